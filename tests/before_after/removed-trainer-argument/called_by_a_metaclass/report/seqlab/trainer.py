"""Keeps the arguments that our experiment files have used since Lightning 1.4."""
import pytorch_lightning as pl


class LegacyArguments(type):
    def __call__(cls, **kw):
        kw["enable_checkpointing"] = kw.pop("checkpoint_callback")
        kw["use_distributed_sampler"] = kw.pop("replace_sampler_ddp")
        return super().__call__(**kw)


class Trainer(pl.Trainer, metaclass=LegacyArguments):
    pass
