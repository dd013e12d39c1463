# fixer: target=transformers==4.48.3
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("meta-llama/Llama-2-7b-hf")
model.model.embed_tokens.requires_grad_(False)
model.gradient_checkpointing_enable()
