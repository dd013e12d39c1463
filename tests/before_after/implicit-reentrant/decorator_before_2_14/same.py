# fixer: target=torch==2.13.0 unsafe
from torch.utils.checkpoint import checkpoint


@checkpoint(preserve_rng_state=False)
def attention(q, k, v):
    return (q @ k.mT).softmax(-1) @ v
