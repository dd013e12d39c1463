from pytorch_lightning.accelerators import CUDAAccelerator as GPUAccelerator
from pytorch_lightning.accelerators import CPUAccelerator  # noqa: F401
