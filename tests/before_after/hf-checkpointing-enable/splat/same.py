from peft import prepare_model_for_kbit_training
from transformers import AutoModel


def build(settings, *args):
    model = AutoModel.from_pretrained("base")
    model.gradient_checkpointing_enable(**settings)
    model.gradient_checkpointing_enable(*args)
    return prepare_model_for_kbit_training(model, **settings)
