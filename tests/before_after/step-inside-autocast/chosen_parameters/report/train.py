import torch
import torch.nn.functional as F
from choice import scales


def train(model, batches):
    optimizer = torch.optim.SGD(scales(model), lr=0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for x, y in batches:
            model.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
