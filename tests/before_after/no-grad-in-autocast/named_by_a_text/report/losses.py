import torch
import torch.nn.functional as F


def consistency(model, clean, noisy):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        with torch.no_grad():
            target = model(clean)
        return F.mse_loss(model(noisy), target)
