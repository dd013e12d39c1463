# fixer: unsafe
from transformers import *

model = AutoModelForCausalLM.from_pretrained("base")
model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
