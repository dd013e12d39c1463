from torch.cuda.amp import autocast


def step(net, x):
    with autocast():
        return net(x)
