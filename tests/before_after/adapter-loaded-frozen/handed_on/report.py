from peft import LoraConfig, PeftModel
from transformers import Trainer

config = LoraConfig(r=8)


def load(base, path):
    return PeftModel.from_pretrained(base, path)


def main(base, path, args, data):
    trainer = Trainer(model=load(base, path), args=args, train_dataset=data)
    trainer.train()
