import torch
from accelerate import Accelerator
from somewhere import *

accelerator = Accelerator(mixed_precision="fp16")


def shadow(model, loss, clip_grad_norm_):  # shadow: a parameter of that name
    model = accelerator.prepare(model)
    accelerator.backward(loss)
    clip_grad_norm_(model.parameters(), 1.0)


def star(model, loss):
    model = accelerator.prepare(model)
    accelerator.backward(loss)
    clip_gradients(model.parameters(), 1.0)  # star: nobody knows what the import brings


def splat(model, loss, *args):
    model = accelerator.prepare(model)
    accelerator.backward(loss)
    torch.nn.utils.clip_grad_norm_(*args)  # splat: nobody knows what is clipped


def keyword(model, loss, **options):
    model = accelerator.prepare(model)
    accelerator.backward(loss)
    torch.nn.utils.clip_grad_norm_(model.parameters(), **options)  # keyword: nobody knows how
