import torch


def evaluate(model, x, dtype):
    with (torch.autocast("cuda", dtype=dtype) and torch.no_grad()):
        a = model(x)
    with open("log") as log, (torch.no_grad() or torch.autocast("cuda")):
        print(a, file=log)
