import torch
import torch.nn.functional as F

from backends import configure
from model import Reader

configure()
model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(100):
    x, y = torch.randn(8, 10, 32), torch.randint(3, (8,))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        model.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            print((model(x).argmax(1) == y).float().mean().item())
        model.train()
