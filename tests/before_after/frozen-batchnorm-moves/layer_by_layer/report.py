from torch import nn


def quiet(layer):
    if isinstance(layer, nn.BatchNorm1d):
        layer.eval()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
        self.body.eval()
        self.body.requires_grad_(False)

    def forward(self, x):
        return self.body(x)


def main():
    model = Net()
    model.train()
    model.apply(quiet)
    for layer in model.modules():
        layer.eval()
    return model
