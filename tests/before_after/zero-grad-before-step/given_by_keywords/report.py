import torch
import torch.nn.functional as F


class Contrast:
    def __init__(self, **kwargs):
        self.model = kwargs["model"].to("cuda")
        self.optimizer = kwargs["optimizer"]

    def train(self, batches):
        for x, y in batches:
            F.mse_loss(self.model(x), y).backward()
            self.optimizer.zero_grad()
            self.optimizer.step()


def main(batches):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    Contrast(model=model, optimizer=optimizer).train(batches)
