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
                fastpath = torch.backends.mha.get_fastpath_enabled()
                torch.backends.mha.set_fastpath_enabled(False)
                try:
                    return self.encoder(x)
                finally:
                    torch.backends.mha.set_fastpath_enabled(fastpath)
            fastpath = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
            try:
                return self.encoder(x, src_key_padding_mask=padding)
            finally:
                torch.backends.mha.set_fastpath_enabled(fastpath)
