# fixer: target=transformers==5.23.0,accelerate==1.15.0,peft==0.21.2
from accelerate.utils import is_tpu_available
from peft import prepare_model_for_int8_training
from transformers.file_utils import is_torch_tpu_available

if is_torch_tpu_available(check_device=False):
    print("on a TPU")
print(is_tpu_available(check_device=False))


def build(model):
    return prepare_model_for_int8_training(model, layer_norm_names=["norm"])
