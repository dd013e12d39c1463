from torch import nn


class Stable(nn.Module):
    def __setattr__(self, name, value):
        old = self.__dict__.get("_modules", {}).get(name)
        if old is not None and isinstance(value, nn.Module):
            old.load_state_dict(value.state_dict())
        else:
            super().__setattr__(name, value)


class Net(Stable):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.body(x))
