import torch
import torch.nn.functional as F


def unrolled(model, x, y, horizon):
    total = x.new_zeros(())
    for _ in range(horizon):
        x = x + torch.tanh(model(x))
        total = total + F.mse_loss(x, y)
    return total
