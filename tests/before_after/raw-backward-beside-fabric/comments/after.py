from lightning.fabric import Fabric


def train(model, optimizer, loader):
    fabric = Fabric(precision="16-mixed")
    model, optimizer = fabric.setup(model, optimizer)
    for batch in loader:
        # and back
        (
            fabric.backward(model(batch)  # of the task
            # all of it
            .mean())  # here
        )
        optimizer.step()
