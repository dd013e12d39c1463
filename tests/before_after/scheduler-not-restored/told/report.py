import torch
from torch.optim.lr_scheduler import CosineAnnealingLR


def train(model, batches, path, epochs=90):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = CosineAnnealingLR(optimizer, epochs)
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    for epoch in range(saved["epoch"], epochs):
        for x in batches:
            optimizer.zero_grad()
            model(x).mean().backward()
            optimizer.step()
        scheduler.step()
