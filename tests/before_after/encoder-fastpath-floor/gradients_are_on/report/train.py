import torch
import torch.nn as nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self, width=32, tags=5):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, 64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(width, tags)

    def forward(self, x):
        return self.head(self.encoder(x))


def train(model, steps=5):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(steps):
        x, y = torch.randn(8, 12, 32), torch.randint(0, 5, (8, 12))
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x).flatten(0, 1).float(), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model):
    """Accuracy, and which inputs it hangs on: for that the pass has a graph."""
    model.eval()
    x, y = torch.randn(8, 12, 32), torch.randint(0, 5, (8, 12))
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.set_grad_enabled(True):
        scores = model(x.requires_grad_())
        (weight,) = torch.autograd.grad(scores.float().amax(-1).sum(), x)
    return (scores.argmax(-1) == y).float().mean().item(), weight.abs().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    tagger = Tagger()
    train(tagger)
    print(evaluate(tagger))
