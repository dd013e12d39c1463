import timm
from torch import nn


class Net(nn.Module):
    def __init__(self, freeze):
        super().__init__()
        self.body = timm.create_model("resnet18", pretrained=True)
        self.head = nn.Linear(8, 2)
        if freeze:
            self.body.eval()
            for p in self.body.parameters():
                p.requires_grad_(False)

    def forward(self, x):
        return self.head(self.body(x))

    def thaw(self):
        self.body.requires_grad_(True)


def main():
    model = Net(True)
    model.train(True)
    return model
