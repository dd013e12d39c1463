import lightning.pytorch as pl

from evolution import Evolution
from module import Policy


def main(loader, **kwargs):
    policy = Policy()
    pl.Trainer(plugins=[Evolution()], max_epochs=1, **kwargs).fit(policy, loader)
    return policy
