# fixer: target=torch==2.6.0
import torch
import torch.nn.functional as F


def train(batches):
    model = torch.nn.Linear(8, 4).cuda()
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(x)
            loss = F.mse_loss(model(x + 0.1), target) + compiled(x).mean()
        loss.backward()
        optimizer.step()
