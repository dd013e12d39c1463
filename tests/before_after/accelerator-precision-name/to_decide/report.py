from accelerate import Accelerator


def make():
    return Accelerator(mixed_precision="16"), Accelerator(mixed_precision="half")
