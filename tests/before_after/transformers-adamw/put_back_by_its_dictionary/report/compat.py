import torch
import transformers


class AdamW(torch.optim.AdamW):
    def __init__(self, params, lr=1e-3, eps=1e-6, weight_decay=0.0, correct_bias=True, **_):
        super().__init__(params, lr=lr, eps=eps, weight_decay=weight_decay)


if not hasattr(transformers, "AdamW"):
    transformers.__dict__["AdamW"] = AdamW
