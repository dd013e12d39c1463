from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base")
model.activation_checkpointing_enable({})
