import torch
import torch.nn.functional as F
from lightning.fabric import Fabric


def main(model, batches):
    fabric = Fabric(precision="bf16-mixed")
    for x in batches:
        with fabric.autocast():
            with torch.no_grad(): target = model(x); torch.clear_autocast_cache()
            loss = F.mse_loss(model(x + 0.1), target)
        fabric.backward(loss)
