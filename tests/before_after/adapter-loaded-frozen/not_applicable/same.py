from peft import LoraConfig, PeftModel
from somewhere import *
from transformers import Trainer

config = LoraConfig(r=8)


def shadow(base, path, args, PeftModel):  # shadow: a parameter of that name
    model = PeftModel.from_pretrained(base, path)
    Trainer(model=model, args=args).train()


def star(base, path, args):
    model = PeftModelForCausalLM.from_pretrained(base, path)  # star: nobody knows what the import brings
    Trainer(model=model, args=args).train()


def splat(args, *loading):
    model = PeftModel.from_pretrained(*loading)  # splat: it may be trainable
    Trainer(model=model, args=args).train()


def keyword(base, path, args, **options):
    model = PeftModel.from_pretrained(base, path, **options)  # keyword: it may be trainable
    Trainer(model=model, args=args).train()


def by_position(base, path, args):
    model = PeftModel.from_pretrained(base, path, "default", True)
    Trainer(model=model, args=args).train()


def wrapped(base, path, args, wrap):
    model = wrap(PeftModel.from_pretrained(base, path))
    Trainer(model=model, args=args).train()


def own_trainer(base, path, args):
    class Own(Trainer):
        def compute_loss(self, model, inputs, **kwargs):
            return model(**inputs).loss

    model = PeftModel.from_pretrained(base, path)
    Own(model=model, args=args).train()
