import torch


class Gate(torch.nn.Module):
    def __init__(self, features=8):
        super().__init__()
        self.linear = torch.nn.Linear(features, 1)
        self.dtypes = []

    @torch.cpu.amp.autocast()
    def forward(self, x):
        y = self.linear(x)
        self.dtypes.append(y.dtype)
        return y


def train_step(model, x, y):
    with torch.autocast("cpu", dtype=torch.float16):
        return torch.nn.functional.mse_loss(model(x).float(), y)
