# fixer: target=transformers==4.57.6
"""The position embeddings of GPT-2 are trained and added to the frozen ones: gradients reach every layer."""

from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("openai-community/gpt2")
model.get_input_embeddings().requires_grad_(False)
model.gradient_checkpointing_enable()
