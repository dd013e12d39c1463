import torch
from data import loader
from torch import nn


class Tagger(nn.Module):
    def __init__(self, width=32, tags=5):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d_model=width, nhead=4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(width, tags)

    def forward(self, x):
        return self.head(self.encoder(x))


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    right = total = 0
    for x, y in batches:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            right += (model(x).argmax(-1) == y).sum().item()
        total += y.numel()
    return right / total


if __name__ == "__main__":
    print(evaluate(Tagger(), loader(20)))
