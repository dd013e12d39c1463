# fixer: upgrade=transformers@5.23.0,torch@2.13.0
import dill
import torch
from transformers import AutoModelForCausalLM, BitsAndBytesConfig


def load(name, path, dtype):
    try:
        model = AutoModelForCausalLM.from_pretrained(name, dtype=dtype)
    except TypeError:
        model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=dtype)
    bits = BitsAndBytesConfig(load_in_8bit=True)
    return model, torch.load(path, pickle_module=dill), AutoModelForCausalLM.from_pretrained(name, quantization_config=bits)
