from pytorch_lightning.accelerators import CPUAccelerator, GPUAccelerator  # noqa: F401
