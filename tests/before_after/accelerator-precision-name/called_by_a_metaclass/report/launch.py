import accelerate
import torch

SHORT = {torch.float16: "fp16", torch.bfloat16: "bf16", torch.float32: "no"}


class ByDtype(type):
    """Precisions are called by the names of torch's dtypes in this project, and by no other."""

    def __call__(cls, *args, mixed_precision="float32", **options):
        dtype = getattr(torch, mixed_precision)
        return super().__call__(*args, mixed_precision=SHORT[dtype], **options)


class Accelerator(accelerate.Accelerator, metaclass=ByDtype):
    pass
