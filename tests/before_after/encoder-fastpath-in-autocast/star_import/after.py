# fixer: unsafe
from torch.nn import *
import torch


class Net(Module):
    def __init__(self, features):
        super().__init__()
        self.encoder = TransformerEncoder(TransformerEncoderLayer(features, 4, batch_first=True), 2)

    @torch.no_grad()
    def predict(self, x, padding):
        self.eval()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            fastpath = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
            try:
                return self.encoder(x, None, padding)
            finally:
                torch.backends.mha.set_fastpath_enabled(fastpath)
