from accelerate import Accelerator


def make(fp16):
    return Accelerator(mixed_precision="fp16" if fp16 else "no"), Accelerator(mixed_precision="bf16"), Accelerator(mixed_precision=None)
