import torch
import torch.nn.functional as F


def attack(model, image, label, steps):
    image = image.clone().detach().requires_grad_(True)
    for _ in range(steps):
        image.requires_grad = True
        loss = F.cross_entropy(model(image), label)
        loss.backward()
        image = (image + image.grad.sign()).detach()
    return image


def penalty(critic, real, fake):
    mixed = (0.5 * real + 0.5 * fake).requires_grad_(True)
    gradient = torch.autograd.grad(critic(mixed).sum(), mixed, create_graph=True)[0]
    loss = (gradient.norm() - 1) ** 2
    loss.backward()


def tutorial():
    x = torch.tensor(3.0)
    x.requires_grad = True
    x.backward()
    w = torch.randn(3)
    w.requires_grad_()
    (w * 2).sum().backward()
    total = torch.zeros(1).requires_grad_()
    total.backward()


def gradient_of_the_loss(model, x, y):
    loss = F.mse_loss(model(x), y).detach()
    loss.requires_grad_()
    loss.backward()
    return loss.grad


def split(features, head, y):
    features = features.detach()
    features.requires_grad_()
    F.mse_loss(head(features), y).backward()


def seeded(x, gradient):
    x.requires_grad_()
    x.backward(gradient)


def rebound(x, model):
    x.requires_grad_(True)
    x = model(x).mean()
    x.backward()


def accumulated(batches, criterion):
    loss = torch.tensor(0.0)
    loss.requires_grad_(True)
    for batch in batches:
        loss = loss + criterion(batch)
    loss.backward()


def frozen(loss, model, flag):
    for p in model.parameters():
        p.requires_grad = True
    model.requires_grad_(flag)
    loss.requires_grad = False
    loss.requires_grad_(flag)
    loss.backward()


def optimized(start):
    start.requires_grad_()
    optimizer = torch.optim.LBFGS([start])
    start.backward()


def made_here(batch):
    loss = torch.randn(1)
    loss.requires_grad = True
    return loss
