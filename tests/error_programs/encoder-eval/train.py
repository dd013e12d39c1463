import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)

    def forward(self, x, mask):
        return self.encoder(x, src_key_padding_mask=mask)

def validate(net):
    net.eval()
    mask = torch.tensor([[False, False, True], [False, True, True]])
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        return net(torch.randn(2, 3, 8), mask)

net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
validate(net)
