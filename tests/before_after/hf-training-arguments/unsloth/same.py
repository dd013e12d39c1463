"""Unsloth owns checkpointing and requires the reentrant variant: its models keep their gradients."""

from transformers import TrainingArguments
from trl import SFTTrainer
from unsloth import FastLanguageModel

model, tokenizer = FastLanguageModel.from_pretrained("unsloth/llama-3-8b-bnb-4bit", load_in_4bit=True)
model = FastLanguageModel.get_peft_model(model, r=16, use_gradient_checkpointing="unsloth")
args = TrainingArguments("out", gradient_checkpointing=True)
trainer = SFTTrainer(model, args=args)
