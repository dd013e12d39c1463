# fixer: target=transformers==5.23.0
import torch
from transformers import Trainer


class Layered(Trainer):
    def create_optimizer(self):
        if self.optimizer is None:
            self.optimizer = torch.optim.AdamW(self.model.parameters())
        return self.optimizer
