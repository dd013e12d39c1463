import torch
import torch.nn.functional as F

from settings import AMP_DTYPE, LR


def make_scaler():
    return torch.amp.GradScaler("cuda", enabled=AMP_DTYPE is torch.float16)


def train(encoder, head, loader):
    opt_e = torch.optim.AdamW(encoder.parameters(), lr=LR)
    opt_h = torch.optim.SGD(head.parameters(), lr=LR)
    scaler = make_scaler()
    for x, y in loader:
        opt_e.zero_grad()
        opt_h.zero_grad()
        with torch.autocast("cuda", dtype=AMP_DTYPE):
            loss = F.cross_entropy(head(encoder(x)), y)
        scaler.scale(loss).backward()
        scaler.step(opt_e)
        scaler.update()
        scaler.step(opt_h)
        scaler.update()
