# fixer: unsafe
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def adapt(model, targets):
    config = LoraConfig(r=8, target_modules=targets)
    model = get_peft_model(model, config)
    model = prepare_model_for_kbit_training(model)
    return model
