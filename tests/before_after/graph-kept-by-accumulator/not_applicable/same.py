from torch.nn import functional as F

COUNT = []


class Meter:
    def __init__(self):
        self.total = 0.0

    def __iadd__(self, value):
        self.total += float(value)
        return self


def metered(model, loader, optimizer, meter):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        meter += loss


def collected(model, loader, optimizer):
    meter = Meter()
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        meter += loss
    return meter.total


def shared(model, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        COUNT.append(loss)


def told(model, loader, optimizer, tell):
    total = 0.0

    def later():
        return total

    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
    tell(later)


# shadow: what adds to itself here is a class of this file (`Meter` above).


# star: a module that is star-imported may bind the name that is added to
def starred(model, loader, optimizer):
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        count += loss  # noqa: F821


# splat: what is spread into `append` is not in sight
def spread(model, loader, optimizer):
    losses = []
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(*[loss])
    return len(losses)


# keyword: `retain_graph` keeps the graph on purpose
def kept(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        loss.backward(retain_graph=True)
        optimizer.step()
        optimizer.zero_grad()
        total += loss
    print(float(total))
