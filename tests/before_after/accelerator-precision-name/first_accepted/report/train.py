from accelerate import Accelerator
from candidates import first_accepted


def half():
    return Accelerator(mixed_precision="float16")


def brain():
    return Accelerator(mixed_precision="bf16")


accelerator = first_accepted(half, brain)
