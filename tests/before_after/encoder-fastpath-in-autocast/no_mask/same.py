# fixer: target=torch==2.6
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        layer = nn.TransformerEncoderLayer(features, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.unnested = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.first = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=True, norm_first=True), 2)

    def predict(self, x, padding):
        self.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.unnested(x, src_key_padding_mask=padding)
            return self.encoder(self.first(x, src_key_padding_mask=padding), src_key_padding_mask=None)
