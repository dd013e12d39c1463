import torch
import transformers


class AdamW(torch.optim.AdamW):
    def __init__(self, params, lr=1e-3, correct_bias=True):
        super().__init__(params, lr=lr)


for value in (AdamW,):
    setattr(transformers, value.__name__, value)
