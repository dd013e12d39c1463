import torch


class Weights:
    def __init__(self, low):
        self.low = low

    def bfloat16(self):
        return Weights(self.low.to(torch.bfloat16))

    def to(self, kind):
        return Weights(self.low.to(kind))

    def numpy(self):
        return self.low.float().numpy()


def read(weights: Weights):
    return weights.bfloat16().numpy(), weights.to(torch.bfloat16).numpy()
