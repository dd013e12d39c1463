import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=True), 2)

    def forward(self, x, padding):
        return self.encoder(x, src_key_padding_mask=padding)


class Other(nn.Module):
    def forward(self, x):
        return x


def evaluate(x, padding):
    net, other = Net(32).eval(), Other().eval()
    with torch.no_grad():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = other(x)
        return net(y.float(), padding)
