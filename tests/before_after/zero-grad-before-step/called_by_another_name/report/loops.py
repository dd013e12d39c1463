import torch.nn.functional as F


def train_plainly(model, batches, optimizer):
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()
