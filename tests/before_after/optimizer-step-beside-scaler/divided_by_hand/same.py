"""Gradients that are divided by the scale by hand: there `optimizer.step()` is right."""

import torch


def kept_scale(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    inverse = 1.0 / scaler.get_scale()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        grads = [p.grad for p in model.parameters()]
        torch._foreach_mul_(grads, inverse)
        optimizer.step()
        optimizer.zero_grad()


def in_turn(model, optimizer, loader, init_scale):
    scaler = torch.amp.GradScaler("cuda", init_scale=init_scale)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        for group in optimizer.param_groups:
            for p in group["params"]:
                grad = p.grad
                grad.div_(init_scale)
        optimizer.step()
        optimizer.zero_grad()


def by_a_helper(model, optimizer, loader, init_scale):
    scaler = torch.amp.GradScaler("cuda", init_scale=init_scale)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        divide(model, init_scale)
        optimizer.step()
        optimizer.zero_grad()


def divide(model, scale):
    for p in model.parameters():
        p.grad = p.grad / scale


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.scaler = torch.amp.GradScaler("cuda")

    def train(self, loader):
        for batch in loader:
            self.scaler.scale(self.model(batch)).backward()
            self.unscale()
            self.optimizer.step()

    def unscale(self):
        for p in self.model.parameters():
            p.grad.data.mul_(self.inverse)


def by_the_foreach_of_a_helper(model, optimizer, loader, init_scale):
    scaler = torch.amp.GradScaler("cuda", init_scale=init_scale)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        divide_all(model.parameters(), init_scale)
        optimizer.step()


def divide_all(parameters, scale):
    torch._foreach_div_([p.grad for p in parameters], scale)
