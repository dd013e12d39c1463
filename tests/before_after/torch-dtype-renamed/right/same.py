import torch
from transformers import AutoConfig, AutoModelForCausalLM


def load(folder):
    config = AutoConfig.from_pretrained(folder)
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16), config.dtype
