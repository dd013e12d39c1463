# fixer: unsafe
from torch import nn, optim
from transformers import AutoModel


class Classifier(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name)

    def configure_optimizers(self): return [optim.AdamW(self.parameters(), lr=2e-5, eps=1e-6, weight_decay=0.0), optim.SGD(self.parameters(), lr=0.1)]
