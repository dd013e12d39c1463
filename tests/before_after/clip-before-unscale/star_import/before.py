from torch.cuda.amp import *
from torch.nn.utils import clip_grad_value_


def train(model, optimizer, loader):
    scaler = GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        clip_grad_value_(model.parameters(), 0.1)
        scaler.step(optimizer)
        scaler.update()
