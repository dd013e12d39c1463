import torch


def evaluate(net, x, path):
    with torch.no_grad, open(path) as file:
        net(x)
    with open(path) as file, torch.no_grad as nothing, torch.inference_mode:
        net(x)
    with (torch.no_grad):
        net(x)
    with(torch.no_grad):
        net(x)
    with (  # no gradients
        torch.no_grad,  # here
        torch.autograd.detect_anomaly,
    ):
        net(x)
    with (
        torch
        .no_grad
    ):
        net(x)
    with torch.no_grad: net(x)
    while x:
        with torch.enable_grad:
            x = net(x)
