import torch
from torch.nn import Module, TransformerEncoder, TransformerEncoderLayer


def TransformerEncoder(layer, depth):
    return torch.nn.ModuleList([layer] * depth)


class Net(Module):
    def __init__(self, features):
        super().__init__()
        self.encoder = TransformerEncoder(TransformerEncoderLayer(features, 4, batch_first=True), 2)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.encoder(x, src_key_padding_mask=padding)
