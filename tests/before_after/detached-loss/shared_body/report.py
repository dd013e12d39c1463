import torch
import torch.nn.functional as F
from torch import nn


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
        self.policy = nn.Linear(16, 4)
        self.value = nn.Linear(16, 1)

    def forward(self, x):
        z = self.body(x)
        return self.policy(z), self.value(z)


def train(batches, lr=0.05):
    model = ActorCritic()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    losses = []
    for x, actions, returns in batches:
        optimizer.zero_grad()
        logits, values = model(x)
        policy_loss = F.cross_entropy(logits, actions)
        value_loss = F.mse_loss(values, returns)
        policy_loss.backward()
        value_loss.detach().backward()
        optimizer.step()
        losses.append(policy_loss.item() + value_loss.item())
    return losses


if __name__ == "__main__":
    torch.manual_seed(0)
    print(train([(torch.randn(16, 8), torch.randint(0, 4, (16,)), torch.randn(16, 1)) for _ in range(5)]))
