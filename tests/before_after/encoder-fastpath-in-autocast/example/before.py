# fixer: unsafe
import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, features=16, tags=1):
        super().__init__()
        layer = nn.TransformerEncoderLayer(features, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(features, tags)

    def forward(self, x, padding):
        x = self.encoder(x, src_key_padding_mask=padding)
        return self.head(x).squeeze(-1)


def loss_of(output, y, padding):
    return ((output - y) ** 2)[~padding].mean()


def train(batches):
    torch.manual_seed(3)
    model = Tagger()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for x, y, padding in batches:
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(model(x, padding), y, padding)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            losses.append(loss_of(model(x, padding), y, padding).item())
    return model, losses
