import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


def evaluate(model):
    torch.set_grad_enabled(False)
    model.eval()
    return model(torch.randn(8, 4)).mean().item()

def train(model, optimizer):
    model.train()
    for _ in range(2):
        loss = F.mse_loss(model(torch.randn(8, 4)), torch.ones(8, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    train(model, optimizer)
    print(evaluate(model))
