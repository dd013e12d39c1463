import torch as th
from torch import inference_mode, no_grad as frozen
from torch.autograd import detect_anomaly, grad_mode

quiet = th.no_grad


def evaluate(net, x):
    with frozen:
        net(x)
    with inference_mode:
        net(x)
    with grad_mode.enable_grad:
        net(x)
    with detect_anomaly:
        net(x)
    with quiet:
        return net(x)
