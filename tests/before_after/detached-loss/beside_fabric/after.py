# fixer: with=PL201
import torch
from lightning.fabric import Fabric


def main():
    fabric = Fabric(accelerator="cpu", precision="bf16-mixed")
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    loss = model(torch.randn(4, 8)).mean()
    fabric.backward(loss)
    optimizer.step()
