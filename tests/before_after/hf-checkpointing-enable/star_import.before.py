# fixer: unsafe
from transformers import *

model = AutoModelForCausalLM.from_pretrained("base")
model.gradient_checkpointing_enable()
