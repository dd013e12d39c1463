from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base")
model.gradient_checkpointing_enable()
model.enable_input_require_grads()
