import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda"):
    reference = {name: 0.5 * value for name, value in model.state_dict().items()}
    losses = []
    for x, _ in batches:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            own = model(x)
            model.load_state_dict(reference)
            torch.clear_autocast_cache()
            with torch.no_grad():
                base = model(x)
            loss = F.mse_loss(own, base + 1.0)
        losses.append(loss.item())
        F.mse_loss(model(x), base.float()).backward()
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 1))
