import torch
from torch import nn


def collate(sequences, width):
    """Pads in front, so that the last position is the last token of every row."""
    longest = max(map(len, sequences))
    batch = torch.zeros(len(sequences), longest, width)
    padding = torch.ones(len(sequences), longest, dtype=torch.bool)
    for row, sequence in enumerate(sequences):
        batch[row, -len(sequence):] = sequence
        padding[row, -len(sequence):] = False
    return batch, padding


class Forecaster(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, dim_feedforward=32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.out = nn.Linear(width, 1)

    def forward(self, x, padding):
        return self.out(self.encoder(x, src_key_padding_mask=padding)[:, -1])


def main():
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(10):
        x, padding = collate([torch.randn(n, 16) for n in (3, 5, 8)], 16)
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(x, padding).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            print(step, model(x, padding).mean().item())


if __name__ == "__main__":
    main()
