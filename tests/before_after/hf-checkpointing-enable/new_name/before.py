# fixer: unsafe target=transformers>=5.23
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base")
model.activation_checkpointing_enable(activation_checkpointing_kwargs={})
model.activation_checkpointing_enable()
