from accelerate import Accelerator


class Plain:
    def prepare(self, *parts):
        return parts


def main(model, optimizer, loader, Accelerator=Plain):
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()


def rebound(model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer = accelerator.prepare(model, optimizer)
    accelerator = Plain()
    for batch in loader:
        loss = model(batch).mean()
        loss.backward()
        optimizer.step()
