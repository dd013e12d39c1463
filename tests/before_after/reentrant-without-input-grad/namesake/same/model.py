from torch import nn
from torch.utils.checkpoint import checkpoint


class TinyBert(nn.Module):
    def __init__(self, embeddings, layers):
        super().__init__()
        self.embeddings, self.layers = embeddings, layers

    def forward(self, ids):
        x = self.embeddings(ids)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=True)
        return x
