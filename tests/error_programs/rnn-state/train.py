import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


rnn = nn.RNN(4, 4, batch_first=True)
optimizer = torch.optim.SGD(rnn.parameters(), 0.1)
hidden = torch.zeros(1, 2, 4)
for _ in range(3):
    out, hidden = rnn(torch.randn(2, 5, 4), hidden)
    loss = out.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
