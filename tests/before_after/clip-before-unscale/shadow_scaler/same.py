import torch
from torch.cuda.amp import GradScaler

try:
    torch.cuda.amp.custom_fwd
except AttributeError:

    class GradScaler:
        def scale(self, loss):
            return loss

        def step(self, optimizer):
            optimizer.step()

        def update(self):
            pass


def train(model, optimizer, loader):
    scaler = GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
