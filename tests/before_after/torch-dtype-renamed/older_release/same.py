# fixer: target=transformers==4.46.1
import torch
from transformers import AutoModelForCausalLM


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.bfloat16)
