import torch.nn.functional as F
from torch.cuda import amp

from stand_in import Plain

globals()["amp"] = Plain


def loss_of(model, x, y):
    with amp.autocast(enabled=True):
        return F.mse_loss(model(x), y)
