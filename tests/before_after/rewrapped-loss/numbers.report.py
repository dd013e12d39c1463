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
