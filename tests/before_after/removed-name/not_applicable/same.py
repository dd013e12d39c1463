# fixer: target=lightning==2.6.6
from mine.utilities.seed import seed_everything  # shadow: a module of the project of that name
from pytorch_lightning.utilities.seed import *  # star: what it brings is not named

try:
    from pytorch_lightning.utilities.distributed import rank_zero_only
except ImportError:
    from pytorch_lightning.utilities.rank_zero import rank_zero_only


def run(*args, **kwargs):
    seed_everything(*args)  # splat: what it holds does not matter
    rank_zero_only(seed_everything)(**kwargs)  # keyword: the same
