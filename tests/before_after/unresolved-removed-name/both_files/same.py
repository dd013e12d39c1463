# fixer: upgrade=transformers@5.23.0
import os

from transformers import AutoConfig


def weights(folder):
    for name in ("model.safetensors", "pytorch_model.bin"):
        if os.path.exists(os.path.join(folder, name)):
            return name
