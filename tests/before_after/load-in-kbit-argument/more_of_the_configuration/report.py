# fixer: target=transformers==5.23.0
import torch
from transformers import AutoModelForCausalLM


def load(folder):
    return AutoModelForCausalLM.from_pretrained(folder, load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
