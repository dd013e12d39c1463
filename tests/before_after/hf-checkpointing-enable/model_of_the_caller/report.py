# fixer: unsafe
from peft import LoraConfig, get_peft_model
from transformers import PreTrainedModel


def adapted(model: PreTrainedModel):
    return get_peft_model(model, LoraConfig(target_modules="all-linear"))


def save_memory(model: PreTrainedModel):
    model.config.use_cache = False
    model.gradient_checkpointing_enable()
    return model
