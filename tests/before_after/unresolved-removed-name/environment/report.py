# fixer: upgrade=transformers@5.23.0
"""Variables that Transformers no longer reads."""

import os

from transformers import Trainer

os.environ["WANDB_DISABLED"] = "true"
os.environ["TOKENIZERS_PARALLELISM"] = "false"


def train(model, arguments):
    print(os.environ["WANDB_DISABLED"])
    Trainer(model=model, args=arguments).train()
