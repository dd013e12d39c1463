import os
import sys
import types

import pytorch_lightning as pl


def seed_everything(seed, workers=False):
    return pl.seed_everything(seed + int(os.environ.get("LOCAL_RANK", 0)), workers=workers)


module = types.ModuleType("pytorch_lightning.utilities.seed")
module.seed_everything = seed_everything
sys.modules.setdefault(module.__name__, module)
