# fixer: unsafe target=transformers==5.23.0
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


def load(name):
    return AutoModelForCausalLM.from_pretrained(name, trust_remote_code=True)


def main(name, dataset):
    model = load(name)
    args = TrainingArguments("out", bf16=True, learning_rate=2e-5)
    Trainer(model=model, args=args, train_dataset=dataset).train()
