import torch
import torch.nn.functional as F
from build import build


def train(batches):
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                teacher = model(x)
            loss = F.mse_loss(model(x + 1).float(), teacher.float())
        loss.backward()
        optimizer.step()
