# fixer: upgrade=transformers@5.23.0
"""Models whose constructors end in several ways."""

import torch
from transformers import PreTrainedModel


class Bare(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.head = torch.nn.Linear(8, 2)


class Ended(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.head = torch.nn.Linear(8, 2)
        self.post_init()
