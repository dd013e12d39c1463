from accelerate import *


def main(model, optimizer, loader):
    """Who brings `Accelerator` is anybody's guess."""
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
