# fixer: target=transformers==5.23.0
import torch
import transformers
from transformers import AutoModelForCausalLM


def main(folder, batches):
    model = AutoModelForCausalLM.from_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for ids in batches:
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return model, losses


def quantized(folder):
    return AutoModelForCausalLM.from_pretrained(
        folder,
        device_map="auto",  # all GPUs
        quantization_config=transformers.BitsAndBytesConfig(load_in_4bit=True),
    )
