# fixer: target=transformers==5.23.0
from mine.file_utils import is_torch_tpu_available  # shadow: a module of the project with a function of that name
from transformers import *  # star: what it brings is not named

try:
    from transformers import is_torch_tpu_available as there
except ImportError:
    there = None


def check(*args, **kwargs):
    is_torch_tpu_available(*args)  # splat: what it holds does not matter
    return there(**kwargs)  # keyword: the same
