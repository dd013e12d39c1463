from lightning.pytorch import seed_everything
from lightning.pytorch.utilities.rank_zero import rank_zero_only

seed_everything(1)
rank_zero_only(print)("ready")
