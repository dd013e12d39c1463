# fixer: target=lightning==2.6.6
import torch
from lightning.pytorch.plugins import CheckpointIO, TorchCheckpointIO
from lightning.pytorch.strategies import DDPStrategy


class Quiet(CheckpointIO):
    def load_checkpoint(self, path, map_location=None):
        return torch.load(path, map_location=map_location)


class Open(TorchCheckpointIO):
    def load_checkpoint(self, path, map_location=None, **options):
        return super().load_checkpoint(path, map_location, **options)


class Strict(DDPStrategy):
    def load_model_state_dict(self, checkpoint):
        self.lightning_module.load_state_dict(checkpoint["state_dict"])
