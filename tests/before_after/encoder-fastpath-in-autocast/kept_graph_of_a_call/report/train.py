import torch
from explain import Explained
from torch import nn


class Tagger(Explained):
    def __init__(self, width=32):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 3)

    def forward(self, x, padding):
        return self.head(self.encoder(x, src_key_padding_mask=padding))


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return [model(x, padding).float().mean().item() for x, padding in batches]


if __name__ == "__main__":
    x, padding = torch.randn(2, 6, 32), torch.tensor([[False] * 6, [False] * 4 + [True] * 2])
    print(evaluate(Tagger(), [(x, padding)]))
