import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, tags=7, width=32):
        super().__init__()
        self.embed = nn.Embedding(100, width)
        layer = nn.TransformerEncoderLayer(width, 4, dim_feedforward=64, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.out = nn.Linear(width, tags)

    def forward(self, ids, padding):
        return self.out(self.encoder(self.embed(ids), src_key_padding_mask=padding))


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return [model(ids, ids == 0).argmax(-1) for ids in batches]


def main():
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters())
    ids = torch.randint(1, 100, (4, 9))
    ids[1, 5:] = 0
    for _ in range(5):
        model.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(ids, ids == 0)
        loss = nn.functional.cross_entropy(logits.float().transpose(1, 2), ids % 7)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        evaluate(model, [ids])


if __name__ == "__main__":
    main()
