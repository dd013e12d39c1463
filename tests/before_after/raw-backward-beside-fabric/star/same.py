from lightning.fabric import *


def main(model, optimizer, loader):
    """Who brings `Fabric` is anybody's guess."""
    fabric = Fabric()
    model, optimizer = fabric.setup(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
