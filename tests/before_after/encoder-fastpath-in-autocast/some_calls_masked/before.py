# fixer: unsafe target=torch==2.4.1
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, features):
        super().__init__()
        layer = nn.TransformerEncoderLayer(features, nhead=2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            if padding is None:
                return self.encoder(x)
            return self.encoder(x, src_key_padding_mask=padding)
