import torch.nn.functional as F

from optimizers import Own


def of_its_own(model, batches):
    optimizer = Own(model.parameters(), lr=0.05)
    for x, y in batches:
        F.mse_loss(model(x), y).backward()
        optimizer.zero_grad()
        optimizer.step()
