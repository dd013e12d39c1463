# fixer: unsafe strategy=no-nested
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        layer = nn.TransformerEncoderLayer(features, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.second = nn.TransformerEncoder(layer, 2, None, False)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.second(x, None, padding)
            return self.encoder(x, None, padding)
