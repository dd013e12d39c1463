import torch
import torch.nn.functional as F


def reporting(function):
    def call(*args, **kwargs):
        print(function.__name__)
        return function(*args, **kwargs)

    return call


@reporting
def still():
    return torch.no_grad()


def distil(model, x, device_type="cuda"):
    with still():
        with torch.autocast(device_type):
            with torch.inference_mode():
                target = model(x)
            return F.mse_loss(model(x + 0.1), target)
