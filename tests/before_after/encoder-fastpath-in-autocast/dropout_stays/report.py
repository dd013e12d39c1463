import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    def train(self, mode=True):
        super().train(mode)
        self.encoder.train()
        return self

    def forward(self, x, padding):
        return self.encoder(x, src_key_padding_mask=padding)


def uncertainty(x, padding, samples=20):
    model = Tagger()
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.stack([model(x, padding).float() for _ in range(samples)]).std(0)
