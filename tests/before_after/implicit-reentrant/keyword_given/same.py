from functools import partial

from torch.utils.checkpoint import checkpoint, checkpoint_sequential
from torch.utils.checkpoint import create_selective_checkpoint_contexts, noop_context_fn


def forward(self, x, layers, reentrant, options):
    x = checkpoint(self.stem, x, use_reentrant=False)
    x = checkpoint(self.stem, x, use_reentrant=True)
    x = checkpoint(self.stem, x, use_reentrant=reentrant)
    x = checkpoint(self.stem, x, **options)
    x = checkpoint_sequential(layers, 2, x, False)
    x = checkpoint_sequential(layers, 2, input=x, use_reentrant=False)
    run = partial(checkpoint, use_reentrant=False)
    return run(self.head, x)


def selective(self, x, policy):
    contexts = partial(create_selective_checkpoint_contexts, policy)
    x = checkpoint(self.block, x, context_fn=contexts)
    x = checkpoint(self.block, x, debug=True)
    return checkpoint(self.block, x, context_fn=noop_context_fn, respect_saved_tensors_hooks=True)


@checkpoint(use_reentrant=False)
def attention(q, k, v):
    return (q @ k.mT).softmax(-1) @ v
