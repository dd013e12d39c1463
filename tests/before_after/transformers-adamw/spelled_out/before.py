# fixer: unsafe
import transformers
from transformers import optimization
from transformers.optimization import AdamW as HFAdamW


def configure_optimizers(self, groups, cfg):
    grouped = HFAdamW(groups, lr=cfg.lr, eps=cfg.eps, correct_bias=True, no_deprecation_warning=True)
    positional = transformers.AdamW(groups, cfg.lr, (0.9, 0.98), 1e-8, 0.01, True)
    bare = optimization.AdamW(
        groups,
        lr=cfg.lr,  # after warm-up
        no_deprecation_warning=True,
    )
    decayed: HFAdamW = transformers.AdamW(params=groups, weight_decay=cfg.weight_decay, betas=(0.9, 0.95))
    return grouped, positional, bare, decayed
