from torch import nn
from transformers import AutoModel


class Scorer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.base = AutoModel.from_pretrained(config["path"])
        self.base.gradient_checkpointing_enable()
        if config["n_freeze"] > 0:
            self.base.embeddings.requires_grad_(False)
        self.head = nn.Linear(1024, 3)
