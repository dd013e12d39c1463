import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        layer = nn.TransformerEncoderLayer(features, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            x = self.encoder(x, src_key_padding_mask=padding)
        with torch.cuda.amp.autocast():
            x = self.encoder(x, src_key_padding_mask=padding)
        with torch.autocast("cpu", enabled=False):
            return self.encoder(x, src_key_padding_mask=padding)
