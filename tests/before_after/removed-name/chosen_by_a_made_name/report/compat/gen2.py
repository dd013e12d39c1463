from pytorch_lightning import seed_everything
from pytorch_lightning.utilities.rank_zero import rank_zero_only

SAMPLER = "use_distributed_sampler"


@rank_zero_only
def announce(text):
    print(text, flush=True)


def begin(seed):
    return seed_everything(seed, workers=True, verbose=False)
