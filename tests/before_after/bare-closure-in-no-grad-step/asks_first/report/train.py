import torch.nn.functional as F

from armijo import ArmijoSGD


def train(model, loader):
    optimizer = ArmijoSGD(model.parameters(), lr=1.0)
    for x, y in loader:

        def closure():
            loss = F.mse_loss(model(x), y)
            if loss.requires_grad:
                optimizer.zero_grad()
                loss.backward()
            return loss

        closure()
        optimizer.step(closure)
