from peft import AutoPeftModelForCausalLM, PeftModel, PeftConfig
from transformers import Trainer


def main(base, path, args, data):
    model = PeftModel.from_pretrained(base, path)
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()


def one_of_two(path, args, data, config):
    if args.resume:
        model = AutoPeftModelForCausalLM.from_pretrained(path)
    trainer = Trainer(model=model, args=args, train_dataset=data)
    if args.do_train:
        trainer.train()
