"""PEFT's preparation switches checkpointing on for quantized models only."""

from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("acme/decoder-7b", load_in_4bit=False)
model = prepare_model_for_kbit_training(model)
model = get_peft_model(model, LoraConfig(r=8))
