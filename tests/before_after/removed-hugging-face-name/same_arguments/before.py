# fixer: target=peft==0.21.2
from peft import prepare_model_for_int8_training


def build(model):
    return prepare_model_for_int8_training(model, use_gradient_checkpointing=False)
