import sys

from datasets import load_from_disk
from train import build

SWITCHES = {"loss_is_scaled_for_ga": False}


def main(name, folder):
    trainer = build(name, load_from_disk(folder))
    for key, value in SWITCHES.items():
        setattr(trainer, key, value)
    trainer.train()


if __name__ == "__main__":
    main(*sys.argv[1:])
