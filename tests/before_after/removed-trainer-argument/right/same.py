import lightning.pytorch as pl


def make():
    return pl.Trainer(accelerator="gpu", devices=2, enable_checkpointing=False, use_distributed_sampler=True)
