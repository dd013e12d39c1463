from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, TrainingArguments

model = get_peft_model(AutoModelForCausalLM.from_pretrained("base"), LoraConfig(r=8))
args = TrainingArguments("out", gradient_checkpointing=True)
