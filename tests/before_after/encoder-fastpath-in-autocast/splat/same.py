import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features, layer_options, encoder_options):
        super().__init__()
        layer = nn.TransformerEncoderLayer(features, 4, batch_first=True, **layer_options)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.second = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=True), **encoder_options)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = self.second(x, src_key_padding_mask=padding)
            return self.encoder(x, src_key_padding_mask=padding)
