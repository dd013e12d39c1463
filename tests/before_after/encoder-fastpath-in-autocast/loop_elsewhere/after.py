# fixer: unsafe
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(features, 4, batch_first=True), 2)

    def forward(self, x, padding):
        # the padded positions are masked later
        fastpath = torch.backends.mha.get_fastpath_enabled()
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            hidden = self.encoder(x, src_key_padding_mask=padding)  # (batch, time, features)
        finally:
            torch.backends.mha.set_fastpath_enabled(fastpath)
        return hidden.mean(dim=1)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    for x, padding in loader:
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            yield model(x, padding)


def main(loader):
    net = Net(32).to("cpu")
    return list(evaluate(net, loader))
