import torch

_numpy = torch.Tensor.numpy


def bits(self):
    return _numpy(self.view(torch.int16))


torch.Tensor.numpy = bits


def features(model, x):
    with torch.no_grad():
        h = model(x).to(torch.bfloat16)
    return float(h.cpu().numpy().std())
