# fixer: unsafe
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


def train(model, batches, device):
    for p in model.body.parameters():
        p.requires_grad = False
    model = FSDP(model, device_id=device)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    losses = []
    for x, y in batches:
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses
