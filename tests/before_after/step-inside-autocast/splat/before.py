# fixer: unsafe
import torch
import torch.nn.functional as F
from torch.cuda.amp import autocast


def train(model, batches, optimizer, scaler, amp_options):
    with autocast(**amp_options):
        for batch in batches:
            loss = F.mse_loss(model(*batch[:-1]), batch[-1])
            scaler.scale(loss).backward()
            if scaler.is_enabled(): scaler.step(optimizer, **{})
            scaler.update()
