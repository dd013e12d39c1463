# fixer: target=transformers==5.23.0
import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, BitsAndBytesConfig, Trainer
from trl import SFTTrainer


def main(name, dataset, args, config):
    told = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    Trainer(model=told, args=args, train_dataset=dataset).train()
    old = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
    Trainer(model=old, args=args, train_dataset=dataset).train()
    quantized = AutoModelForCausalLM.from_pretrained(name, quantization_config=BitsAndBytesConfig(load_in_4bit=True))
    Trainer(model=quantized, args=args, train_dataset=dataset).train()
    small = AutoModelForCausalLM.from_pretrained("openai-community/gpt2")
    Trainer(model=small, args=args, train_dataset=dataset).train()
    classifier = AutoModelForSequenceClassification.from_pretrained(name)
    Trainer(model=classifier, args=args, train_dataset=dataset).train()
    adapted = AutoModelForCausalLM.from_pretrained(name)
    SFTTrainer(model=adapted, args=args, train_dataset=dataset, peft_config=config).train()
    converted = AutoModelForCausalLM.from_pretrained(name)
    converted = converted.float()
    Trainer(model=converted, args=args, train_dataset=dataset).train()
    SFTTrainer(model=name, args=args, train_dataset=dataset).train()
    teacher = AutoModelForCausalLM.from_pretrained(name)
    return teacher.generate()
