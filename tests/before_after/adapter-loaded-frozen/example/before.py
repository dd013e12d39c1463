# fixer: unsafe
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import Trainer


def adapt(model, targets):
    return get_peft_model(model, LoraConfig(r=8, target_modules=targets))


def resume(model, adapter, args, data):
    model = PeftModel.from_pretrained(model, adapter)
    trainer = Trainer(model=model, args=args, train_dataset=data)
    trainer.train()
    return model
