import torch
from torch.utils.checkpoint import checkpoint
from transformers import PreTrainedConfig, PreTrainedModel


class Auto32Config(PreTrainedConfig):
    model_type = "auto32"


class Auto32(PreTrainedModel):
    config_class = Auto32Config
    frugal = False

    def __init__(self, config):
        super().__init__(config)
        self.encode = torch.nn.Linear(32, 256)
        self.decode = torch.nn.Linear(256, 32)
        self.post_init()

    def gradient_checkpointing_enable(self, **_):
        self.frugal = True

    def forward(self, x):
        if self.frugal:
            return self.decode(checkpoint(self.encode, x, use_reentrant=False))
        return self.decode(self.encode(x))
