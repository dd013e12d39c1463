import torch
import torch.nn.functional as F
from torch.autograd import Function, Variable


def keeps_the_graph(loss):
    torch.as_tensor(loss).backward()
    torch.Tensor(loss).backward()
    torch.asarray(loss).backward()


def tutorial(data):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**2 + 1
    y.backward()
    z = torch.tensor([1.0, 2.0], requires_grad=True)
    z.sum().backward()
    leaf = torch.tensor(data, requires_grad=True)
    leaf.sum().backward()
    start = torch.tensor(data, requires_grad=True)
    start.backward()
    print(start.grad)


def accumulated(model, batches, criterion):
    loss = Variable(torch.zeros(1), requires_grad=True)
    for x, y in batches:
        loss = loss + criterion(model(x), y)
    loss.backward()
    total = torch.tensor(0.0)
    for x, y in batches:
        total += criterion(model(x), y)
    total.backward()


def weights_made_of_losses(model, x, y):
    first, second = F.mse_loss(model(x), y), F.l1_loss(model(x), y)
    weights = torch.softmax(torch.tensor([first, second]), dim=0)
    (weights[0] * first + weights[1] * second).backward()
    (first / torch.tensor(first)).backward()
    (first + torch.tensor(second.item())).backward()


def policy_gradient(log_probs, rewards):
    loss = -(log_probs * torch.tensor(rewards)).sum()
    loss.backward()


def logged(model, x, y, history):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    history.append(torch.tensor(loss))
    return torch.tensor([loss, 2 * loss]).mean()


def split(features, head, y):
    cut = torch.tensor(features, requires_grad=True)
    F.mse_loss(head(cut), y).backward()
    features.backward(cut.grad)


def seeded(x, gradient):
    x = torch.tensor(x, requires_grad=True)
    x.backward(gradient)


class HardLoss(Function):
    @staticmethod
    def forward(ctx, prediction, target):
        loss = F.mse_loss(prediction, target)
        return torch.tensor(loss, requires_grad=True)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None
