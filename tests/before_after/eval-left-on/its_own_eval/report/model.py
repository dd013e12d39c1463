from torch import nn


class _Model(nn.Sequential):
    """Modes are switched by `train(...)` only; `eval()` reports for the console."""

    def eval(self):
        print("evaluating", sum(p.numel() for p in self.parameters()), "parameters")
        return self


def build():
    return _Model(nn.Linear(8, 8), nn.Dropout(0.5), nn.Linear(8, 1))
