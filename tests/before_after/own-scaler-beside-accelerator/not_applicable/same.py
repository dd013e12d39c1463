import torch
from accelerate import Accelerator
from somewhere import *

accelerator = Accelerator(mixed_precision="fp16")


def shadow(loss, GradScaler):  # shadow: a parameter of that name
    accelerator.backward(GradScaler().scale(loss))


def star(loss):
    accelerator.backward(SCALER.scale(loss))  # star: nobody knows what the import brings


def splat(*losses):
    accelerator.backward(*losses)  # splat: nobody knows whether they are scaled


def keyword(loss, **options):
    accelerator.backward(loss, **options)  # keyword: the same
