import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        layer = nn.TransformerEncoderLayer(d, 4, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        for block in self.encoder.layers:
            block.register_forward_pre_hook(lambda module, args: None)
        self.encoder.register_forward_hook(lambda module, args, out: out)
        self.head = nn.Linear(d, 3)

    def forward(self, x):
        return self.head(self.encoder(x, mask=torch.zeros(x.shape[1], x.shape[1])))


@torch.no_grad()
def evaluate(model, x):
    model.eval()
    model.encoder.layers.train()  # dropout samples, Monte Carlo
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return torch.stack([model(x) for _ in range(4)]).float().std(0)


def main():
    model = Tagger()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = model(torch.randn(2, 5, 16)).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(evaluate(model, torch.randn(2, 5, 16)).mean())


if __name__ == "__main__":
    main()
