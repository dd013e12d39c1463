import torch
from torch import nn

torch.backends.mha.set_fastpath_enabled(False)


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=True), 2)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.encoder(x, src_key_padding_mask=padding)
