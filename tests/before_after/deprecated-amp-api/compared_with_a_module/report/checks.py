import torch.cuda.amp.grad_scaler as grad_scaler


def is_scaler(obj):
    return type(obj).__module__ == grad_scaler.__name__
