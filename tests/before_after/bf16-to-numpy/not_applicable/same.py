import numpy
import torch
from somewhere import *
from transformers import AutoProcessor


def shadow(x, torch):
    return x.to(torch.bfloat16).numpy()  # shadow: another torch


def star(x):
    return numpy.array(lowered(x, torch.bfloat16))  # star: nobody knows what the import brings


def splat(x, *kinds, **options):
    low = x.to(*kinds).numpy()  # splat: it may be any dtype
    return low, torch.zeros(3, **options).numpy(), x.bfloat16  # keyword: the same


def prepared(images, text):
    """A batch of features converts what is floating, and leaves the rest."""
    processor = AutoProcessor.from_pretrained("some/model")
    inputs = processor(images=images, text=text, return_tensors="pt").to("cpu", torch.bfloat16)
    return inputs["input_ids"].numpy(), inputs.input_ids.numpy()


def moved(x, device, other):
    x = x.bfloat16()
    return x.to(device).numpy(), x.to(other).numpy(), x.view(other).numpy(), x.type(other).numpy()


def held(x):
    parts = {"low": x.bfloat16(), "high": x.float()}
    return [part.numpy() for part in parts.values()]


def outer(x):
    low = x.bfloat16()

    def inner():
        return low.numpy()

    low = low.float()
    return inner()


def written_to(x):
    low = x.bfloat16()
    low = low * 1.5 + x
    low += 1
    return low.numpy()
