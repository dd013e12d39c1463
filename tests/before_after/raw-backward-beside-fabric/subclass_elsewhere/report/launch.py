import torch
from finetune import train
from lightning.fabric import Fabric


class Accumulating(Fabric):
    def backward(self, tensor, *args, **kwargs):
        super().backward(tensor / 4, *args, **kwargs)


train(Accumulating(accelerator="cpu"), torch.nn.Linear(4, 1), [])
