from pytorch_lightning.utilities.seed import seed_everything


def start(seed):
    return seed_everything(seed)
