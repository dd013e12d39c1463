from lightning.fabric import Fabric


def train(model, batch):
    model.setup()
    loss = model(batch)
    loss.backward()


def other(loss):
    fabric = Fabric()
    loss = fabric.setup(loss)
    fabric.backward(loss)
