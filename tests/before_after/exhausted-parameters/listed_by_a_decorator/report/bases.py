from torch import nn


def listed(*names):
    def wrap(cls):
        for name in names:
            plain = getattr(cls, name)
            setattr(cls, name, lambda self, *a, _plain=plain, **k: list(_plain(self, *a, **k)))
        return cls

    return wrap


@listed("parameters", "buffers")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 1)

    def forward(self, x):
        return self.layer(x)
