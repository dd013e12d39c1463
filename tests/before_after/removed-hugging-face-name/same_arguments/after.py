# fixer: target=accelerate==1.15.0,peft==0.21.2
from accelerate.utils import is_torch_xla_available
from peft import prepare_model_for_kbit_training


def build(model):
    if is_torch_xla_available():
        print("on a TPU")
    return prepare_model_for_kbit_training(model, use_gradient_checkpointing=False)
