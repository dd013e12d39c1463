# fixer: unsafe
from transformers import AutoModelForCausalLM, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("base", attn_implementation="flex_attention")
args = TrainingArguments("out", gradient_checkpointing=True)
