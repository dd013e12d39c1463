# fixer: unsafe
from accelerate import Accelerator


def train(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        (
            loss  # of the task
            + model(batch).norm()  # of the weights
        ).backward(
            None,  # no weight
            True,  # needed below
        )
        (  # once more
            loss
            # and back
        ).backward()
        optimizer.step()
