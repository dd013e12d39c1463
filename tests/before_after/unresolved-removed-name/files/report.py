# fixer: upgrade=transformers@5.23.0,peft@0.21.2
import os

import torch
from peft import PeftModel
from transformers import AutoModel


def resume(model, folder):
    weights = os.path.join(folder, "pytorch_model.bin")
    adapter = torch.load(f"{folder}/adapter_model.bin", weights_only=True)
    print("pytorch_model.binary")
    return weights, adapter
