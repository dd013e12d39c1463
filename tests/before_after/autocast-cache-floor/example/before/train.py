import torch
import torch.nn.functional as F


def train(model, optimizer, loader):
    model.train()
    for x in loader:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(x)
            loss = F.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
