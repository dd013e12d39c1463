import torch
import torch.nn.functional as F
from own import Rebinding


def train(model, batches):
    optimizer = Rebinding(model)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for x, y in batches:
            model.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
