from lightning.pytorch.cli import LightningCLI

from model import Autoencoder, Pixels
from trainers import LabTrainer


def main():
    LightningCLI(Autoencoder, Pixels, trainer_class=LabTrainer)


if __name__ == "__main__":
    main()
