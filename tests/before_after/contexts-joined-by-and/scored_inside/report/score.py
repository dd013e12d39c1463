import operator


def send(tensor, direction):
    operator.methodcaller(direction + "ward")(tensor)


def saliency(model, x):
    x = x.clone().requires_grad_()
    send(model(x).float().sum(), "back")
    return x.grad.abs()
