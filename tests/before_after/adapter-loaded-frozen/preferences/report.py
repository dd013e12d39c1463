from peft import LoraConfig, PeftModel
from trl import DPOTrainer

config = LoraConfig(r=8)


def main(base, path, args, data):
    model = PeftModel.from_pretrained(base, path)
    trainer = DPOTrainer(model=model, args=args, train_dataset=data)
    trainer.train()
