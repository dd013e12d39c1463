from torch import *
from torch.autograd import backward


def shadow(backward, loss):
    backward(loss.detach())


def splat(loss, *args):
    backward(*args, loss.detach())
    backward(*[loss.detach()])


def keyword(engine, loss, options):
    engine.backward(gradient=loss.detach(), **options)
    loss.detach(**options).backward()


def rebound(loss, backward=print):
    loss = loss.detach()
    loss = loss.requires_grad_()
    loss.backward()
