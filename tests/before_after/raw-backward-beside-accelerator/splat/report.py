from accelerate import Accelerator


def main(model, optimizer, loader, *args):
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch)
        loss.backward(*args)  # `accelerator.backward` takes no positional arguments
        optimizer.step()
