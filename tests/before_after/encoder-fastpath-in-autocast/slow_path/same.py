import torch
from torch import nn


def build(features, activation):
    return [
        nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4), 2),
        nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=False), 2),
    ]


class Net(nn.Module):
    def __init__(self, features, activation, first):
        super().__init__()
        self.sequence = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4), 2)
        self.odd = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 3, batch_first=True), 2)
        self.silu = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(features, 4, activation=nn.functional.silu, batch_first=True), 2
        )
        self.given = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(features, 4, activation=activation, batch_first=True), 2
        )
        self.unbiased = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=True, bias=False), 2)
        self.maybe = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=first), 2)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for encoder in (self.sequence, self.odd):
                x = encoder(x)
            x = self.sequence(x, src_key_padding_mask=padding) + self.odd(x, src_key_padding_mask=padding)
            x = self.silu(x, src_key_padding_mask=padding) + self.given(x, src_key_padding_mask=padding)
            return self.unbiased(x, src_key_padding_mask=padding) + self.maybe(x, src_key_padding_mask=padding)
