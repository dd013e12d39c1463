# fixer: upgrade=transformers@5.23.0
"""What a Trainer once read from a model, set before it is made."""

import torch
from transformers import AutoModelForCausalLM, Trainer

model = AutoModelForCausalLM.from_pretrained("gpt2")
if torch.cuda.device_count() > 1:
    model.is_parallelizable = True
    model.model_parallel = True
Trainer(model=model).train()
