from torch.optim import SGD
from torch.optim.lr_scheduler import ReduceLROnPlateau

from log import line


def train(model, epochs, evaluate):
    optimizer = SGD(model.parameters(), lr=0.1)
    scheduler = ReduceLROnPlateau(optimizer, patience=3, verbose=True)
    for epoch in range(epochs):
        scheduler.step(evaluate(model))
        line(epoch, scheduler)
