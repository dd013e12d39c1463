from pytorch_lightning.utilities.distributed import rank_zero_only
from pytorch_lightning.utilities.seed import seed_everything

SAMPLER = "replace_sampler_ddp"


@rank_zero_only
def announce(text):
    print(text, flush=True)


def begin(seed):
    return seed_everything(seed, workers=True)
