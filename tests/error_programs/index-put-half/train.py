import torch
from torch import nn


embed, encoder = nn.Embedding(10, 4), nn.Linear(6, 4)
embed.half()
ids, image = torch.tensor([1, 2, 0, 0]), torch.randn(2, 6)
hidden = embed(ids)
features = encoder(image)
hidden[ids == 0] = features
loss = hidden.pow(2).mean()
loss.backward()
