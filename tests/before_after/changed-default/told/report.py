# fixer: upgrade=transformers@5.23.0
import torch
from transformers import AutoModelForCausalLM


def load(folder):
    plain = AutoModelForCausalLM.from_pretrained(folder)
    return plain, AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
