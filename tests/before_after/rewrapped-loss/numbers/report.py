import torch
import torch.nn.functional as F


def reward_is_no_loss(model, env, x, optimizer):
    reward = float(env.step(model(x).argmax()))
    loss = -reward
    optimizer.zero_grad()
    loss = torch.tensor(loss, requires_grad=True)
    loss.backward()
    optimizer.step()


def item_in_a_name(model, x, y):
    loss = F.mse_loss(model(x), y).item()
    torch.tensor(loss, requires_grad=True).backward()


def mixed(model, x, y):
    loss = F.mse_loss(model(x), y)
    torch.tensor([loss, 0.5], requires_grad=True).sum().backward()


def cut_before(model, x, y):
    with torch.no_grad():
        loss = F.mse_loss(model(x), y)
    loss = torch.tensor(loss, requires_grad=True)
    loss.backward()


def loss_fn(warped, target):
    loss = (target - warped).float().mean()
    loss = torch.tensor(loss, requires_grad=True)
    return loss


class EnergyLoss:
    def forward(self, x, decoded, gamma):
        loss = torch.mean((x - decoded).pow(2)) + self.weight * self.energy(gamma)
        return torch.autograd.Variable(loss, requires_grad=True)
