from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR


def make(optimizer):
    return ReduceLROnPlateau(optimizer, "min", 0.1, 10), StepLR(optimizer, 10, 0.1, -1)
