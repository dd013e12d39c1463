import torch.nn.functional as F
from torch import nn
from transformers import Adafactor

from by_hand import ByHand


class Net(ByHand):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        self.descend(F.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        return Adafactor(self.parameters(), lr=1e-3, relative_step=False, scale_parameter=False)
