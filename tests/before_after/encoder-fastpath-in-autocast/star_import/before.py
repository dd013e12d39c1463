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
            return self.encoder(x, None, padding)
