# fixer: target=transformers==5.23.0
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def main(name, dataset):
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(name), LoraConfig())
    Trainer(model=model, args=TrainingArguments("out"), train_dataset=dataset).train()
