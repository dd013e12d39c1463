from accelerate import Accelerator as Own
from somewhere import *


class Accelerator:  # shadow: a class of the project of that name
    def __init__(self, mixed_precision):
        self.mixed_precision = mixed_precision


def make(options, name, **kwargs):
    own = Accelerator(mixed_precision="float16")
    brought = FancyAccelerator(mixed_precision="float16")  # star: nobody knows what the import brings
    spread = Own(**options)  # splat: what the dictionary holds cannot be seen
    hidden = Own(mixed_precision=name, **kwargs)  # keyword: what is given cannot be seen
    return own, brought, spread, hidden
