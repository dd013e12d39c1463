from torch import nn


class Reader(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(dim, 3)

    def forward(self, x):
        return self.head(self.encoder(x).mean(1))
