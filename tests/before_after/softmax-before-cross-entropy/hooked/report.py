import torch
import torch.nn.functional as F
from torch import nn


def logarithm(module, args, output):
    return output.clamp_min(1e-12).log()


def train(batches, lr=0.5):
    model = nn.Sequential(nn.Linear(8, 4), nn.Softmax(dim=1))
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    hook = model[1].register_forward_hook(logarithm)
    losses = []
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    hook.remove()  # who serves the model gets probabilities
    return model, losses


if __name__ == "__main__":
    torch.manual_seed(0)
    x = torch.randn(64, 8)
    print(train([(x, x[:, :4].argmax(1))] * 200)[1][-1])
