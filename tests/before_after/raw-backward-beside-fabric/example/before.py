import torch
from lightning.fabric import Fabric


def main() -> torch.nn.Module:
    fabric = Fabric(accelerator="cpu", precision="bf16-mixed")
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = fabric.setup(model, optimizer)
    for _ in range(3):
        loss = model(torch.randn(4, 8)).mean()
        optimizer.zero_grad()
        loss.backward(retain_graph=True)  # through Fabric, please
        (loss * 2).backward()
        optimizer.step()
    return model
