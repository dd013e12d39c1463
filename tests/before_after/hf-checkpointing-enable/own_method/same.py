import torch.nn as nn
from transformers import AutoModel


class Tower(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.backbone = AutoModel.from_pretrained(name)

    def gradient_checkpointing_enable(self):
        self.backbone.config.use_cache = False

    def prepare(self):
        self.gradient_checkpointing_enable()


def build(name):
    tower = Tower(name)
    tower.gradient_checkpointing_enable()
    return tower


def start(tower):
    tower.gradient_checkpointing_enable()
