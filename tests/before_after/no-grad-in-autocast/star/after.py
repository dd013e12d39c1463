import torch
import torch.nn.functional as F
from torch.cuda.amp import *


def train(model, x):
    with autocast():
        with torch.no_grad():
            target = model(x)
            torch.clear_autocast_cache()
        return F.mse_loss(model(x + 0.1), target)
