import torch


def evaluate(net, x, *args, **kwargs):
    # splat: whatever it is called with, it is called
    with torch.set_grad_enabled(*args):
        net(x)
    # keyword: the same
    with torch.inference_mode(**{"mode": False}), torch.autocast(**kwargs):
        return net(x)
