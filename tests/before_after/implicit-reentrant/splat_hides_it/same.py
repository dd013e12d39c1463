from functools import partial

from torch.utils.checkpoint import checkpoint, checkpoint_sequential


def forward(self, *inputs, **kwargs):
    out = checkpoint(self.block, *inputs, **kwargs)
    run = partial(checkpoint, self.block, **self.checkpoint_kwargs)
    out = checkpoint_sequential(self.layers, *self.segments_and_input(out))
    return run(out)
