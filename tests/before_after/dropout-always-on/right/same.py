import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.rate = rate
        self.off = 0.0

    def forward(self, x):
        x = F.dropout(x, 0.1, self.training)
        x = F.dropout(x, p=0.1, training=self.training)
        x = F.dropout(x, p=0.1, training=True)  # it says so: Monte Carlo
        x = F.alpha_dropout(x, 0.1)  # off by default
        x = F.dropout(x, self.off)
        x = F.dropout(x, 0.0)
        return self.layer(x)

    def attend(self, q, k, v):
        rate = self.rate if self.training else 0.0
        x = F.scaled_dot_product_attention(q, k, v, dropout_p=rate)
        x = x + F.scaled_dot_product_attention(q, k, v, None, self.rate * self.training)
        return x + F.scaled_dot_product_attention(q, k, v, is_causal=True)


def evaluate(model, x):
    model.eval()
    with torch.no_grad():
        return model(x)
