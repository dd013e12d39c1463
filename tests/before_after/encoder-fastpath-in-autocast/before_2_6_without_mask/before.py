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
        return self.encoder(x)

    @torch.inference_mode()
    def predict(self, x):
        self.eval()
        with torch.cpu.amp.autocast():
            y = x; z = self.encoder(y); return z
