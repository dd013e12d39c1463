# fixer: unsafe
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.heads = nn.Linear(width, 3 * width)
        self.p = 0.1

    def forward(self, x):
        q, k, v = self.heads(x).chunk(3, -1)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0)
        return y + F.scaled_dot_product_attention(q, k, v, None, 0.1 if self.training else 0.0, True)


def evaluate(model, x):
    return model.eval()(x)
