import torch
import torch.nn as nn
import torch.nn.functional as F


def train(model, batches, device_type="cuda"):
    generator, discriminator = model["generator"], model["discriminator"]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for noise, _ in batches:
        with torch.autocast(device_type, dtype=torch.bfloat16):
            with torch.no_grad():
                score = discriminator(noise).mean()
                torch.clear_autocast_cache()
            loss = F.softplus(-discriminator(generator(noise))).mean() + 0 * score
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def build_model(features=8):
    torch.manual_seed(3)
    generator, discriminator = nn.Linear(features, features), nn.Linear(features, 1)
    return nn.ModuleDict({"generator": generator, "discriminator": discriminator})
