import torch
import torchvision
import torch.nn as nn
import torch.nn.functional as F


class Perceptual(nn.Module):
    """Frozen features: gradients flow through them, not into them."""

    def __init__(self):
        super().__init__()
        self.net = torchvision.models.vgg16().features.eval()
        for parameter in self.net.parameters():
            parameter.requires_grad = False
        self.backbone = nn.Linear(8, 8).requires_grad_(False)

    @torch.autocast("cuda")
    def forward(self, generated, real):
        with torch.no_grad():
            target, other = self.net(real), self.backbone(real)
        return F.l1_loss(self.net(generated), target) + F.l1_loss(self.backbone(generated), other)


def low_precision(x, device_type="cuda"):
    model = nn.Linear(8, 8).to(torch.bfloat16)
    net = nn.Linear(8, 8)
    net.half()
    with torch.autocast(device_type):
        with torch.no_grad():
            target = model(x) + net(x)
        return F.mse_loss(model(x + 0.1) + net(x), target)


def compiled_model(model, x, device_type="cuda"):
    network = torch.compile(model)
    with torch.autocast(device_type):
        with torch.no_grad():
            target = network(x)
        return F.mse_loss(network(x + 0.1), target)


def full_precision_block(model, x, device_type="cuda"):
    with torch.autocast(device_type):
        with torch.no_grad(), torch.autocast(device_type, enabled=False):
            target = model(x.float())
        with torch.no_grad(), torch.autocast(device_type, cache_enabled=False):
            target = target + model(x)
        return F.mse_loss(model(x + 0.1), target)


def region_without_cache(model, x, device_type="cuda"):
    with torch.autocast(device_type, cache_enabled=False):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


def region_off(model, x, use_amp=False):
    with torch.cuda.amp.autocast(False):
        with torch.no_grad():
            target = model(x)
        return F.mse_loss(model(x + 0.1), target)


@torch.autocast("cuda", enabled=False)
def decorated_off(model, x):
    with torch.no_grad():
        target = model(x)
    return F.mse_loss(model(x + 0.1), target)


def calls_it(model, x):
    with torch.autocast("cuda"):
        return decorated_off(model, x.float())


class Guided(nn.Module):
    """A part that is frozen by its parameters, under no name of a model."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 8)
        for parameter in self.trunk.parameters():
            parameter.requires_grad = False

    @torch.autocast("cuda")
    def forward(self, generated, real):
        with torch.no_grad():
            target = self.trunk(real)
        return F.l1_loss(self.trunk(generated), target)


def looked_up(rows, items, device="cuda"):
    users = nn.Embedding(9, 4).to(device)
    optimizer = torch.optim.Adam(users.parameters())
    with torch.autocast(device):
        with torch.no_grad():
            target = users(rows)
        loss = F.mse_loss(users(rows) @ items, target)
    loss.backward()
    optimizer.step()
