# fixer: target=transformers==5.23.0
import torch
from transformers import AutoModelForCausalLM


def build(config):
    return AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)


def main(folder, batches):
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for ids in batches:
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return model, losses
