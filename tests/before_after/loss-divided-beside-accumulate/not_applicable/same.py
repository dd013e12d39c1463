import accelerate
from somewhere import *


def shadow(model, batch, steps, Accelerator):  # shadow: a parameter of that name
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    accelerator.backward(model(batch).mean() / steps)


def star(model, batch, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps)  # star: nobody knows what the import brings
    accelerator.backward(model(batch).mean() / steps)


def splat(model, batch, *args):
    accelerator = accelerate.Accelerator(*args)  # splat: nobody knows what is given
    accelerator.backward(model(batch).mean() / 4)


def keyword(model, batch, **options):
    accelerator = accelerate.Accelerator(**options)  # keyword: the same
    accelerator.backward(model(batch).mean() / 4)
