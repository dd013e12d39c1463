# fixer: target=lightning==2.6.6
import torch
from lightning.pytorch import Callback


class Memory(Callback):
    def on_train_epoch_start(self, trainer, pl_module):
        torch.cuda.synchronize(trainer.root_gpu)

    def measure(self, trainer):
        return torch.cuda.max_memory_allocated(trainer.root_gpu)


class Other:
    def on_train_epoch_start(self, trainer, module):
        return trainer.root_gpu
