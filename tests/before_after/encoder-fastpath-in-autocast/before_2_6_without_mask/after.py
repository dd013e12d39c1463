# fixer: unsafe target=torch==2.4.1
import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.encoder = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(features, 4, 64, 0.1, F.relu, 1e-5, True), 2, enable_nested_tensor=False
        )

    def forward(self, x):
        fastpath = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            return self.encoder(x)
        finally:
            torch.backends.mha.set_fastpath_enabled(fastpath)

    @torch.inference_mode()
    def predict(self, x):
        self.eval()
        with torch.cpu.amp.autocast():
            y = x
            fastpath = torch.backends.mha.get_fastpath_enabled()
            torch.backends.mha.set_fastpath_enabled(False)
            try:
                z = self.encoder(y)
            finally:
                torch.backends.mha.set_fastpath_enabled(fastpath)
            return z
