# fixer: target=transformers==5.23.0
import torch
from transformers import AutoModelForCausalLM


def main(name, batches):
    model = AutoModelForCausalLM.from_pretrained(name)
    for p in model.model.parameters():
        p.requires_grad = False
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    for tokens in batches:
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
