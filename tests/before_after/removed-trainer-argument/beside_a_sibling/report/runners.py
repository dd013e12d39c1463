import lightning.pytorch as pl


class Former(pl.Trainer):
    """The names of 1.x, for classes whose constructors have them."""

    def __init__(self, *, checkpoint_callback, replace_sampler_ddp, **options):
        super().__init__(
            enable_checkpointing=checkpoint_callback,
            use_distributed_sampler=replace_sampler_ddp,
            **options,
        )
