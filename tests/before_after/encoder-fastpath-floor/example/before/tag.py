import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d_model=64, nhead=4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    def forward(self, x):
        return self.encoder(x)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return [model(x) for x in loader]
