import torch.nn as nn
from torch.amp import GradScaler


def train(model, optimizer, loader):
    scaler = GradScaler(device="cuda", enabled=True)
    for batch in loader:
        scaler.scale(outputs=model(batch)).backward(retain_graph=False)
        nn.utils.clip_grad_norm_(
            parameters=model.parameters(),
            max_norm=1.0,  # as in the paper
        )
        scaler.step(optimizer=optimizer)
        scaler.update()
