# fixer: unsafe
import torch


def configure_optimizers(self, groups, cfg):
    grouped = torch.optim.AdamW(groups, lr=cfg.lr, eps=cfg.eps, weight_decay=0.0)
    positional = torch.optim.AdamW(groups, cfg.lr, (0.9, 0.98), 1e-8, 0.01)
    bare = torch.optim.AdamW(
        groups,
        lr=cfg.lr,  # after warm-up
        eps=1e-6,
        weight_decay=0.0,
    )
    decayed: torch.optim.AdamW = torch.optim.AdamW(params=groups, weight_decay=cfg.weight_decay, betas=(0.9, 0.95), eps=1e-6)
    return grouped, positional, bare, decayed
