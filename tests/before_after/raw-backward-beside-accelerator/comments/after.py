# fixer: unsafe
from accelerate import Accelerator


def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        # of the weights
        accelerator.backward(
            loss  # of the task
            + model(batch).norm(),
            gradient=None,  # no weight
            retain_graph=True,  # needed below
        )
        # once more
        # and back
        accelerator.backward(loss)
        optimizer.step()
