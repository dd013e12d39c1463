# fixer: target=transformers==5.23.0
from transformers.file_utils import is_torch_tpu_available

if is_torch_tpu_available(check_device=False):
    print("on a TPU")
