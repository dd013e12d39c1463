from training import *

args = TrainingArguments("out", gradient_checkpointing=True)
Trainer(args=args).train()


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
