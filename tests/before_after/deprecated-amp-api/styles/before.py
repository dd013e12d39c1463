# fixer: target=torch>=2.4
import torch
import torch.cuda.amp as cuda_amp
from torch.cuda import amp
from torch.cuda.amp import GradScaler as Scaler, autocast as cast
import torch.cuda.amp.autocast_mode


def train(model, loader, optimizer, dtype):
    scaler = Scaler(2.0**16, 2.0, growth_interval=100)
    backup = cuda_amp.GradScaler()
    for x, y in loader:
        with cuda_amp.autocast(False):
            warm = model(x)
        with amp.autocast(True, dtype, cache_enabled=False), torch.no_grad():
            target = model(x)
        with cast(dtype=dtype):
            loss = (model(x) - target - warm).mean()
        with torch.cuda.amp.autocast_mode.autocast(
            enabled=True,  # half of the time
        ):
            loss = loss + model(y).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


class Block(torch.nn.Module):
    @cast(enabled=False)
    def forward(self, x):
        return x
