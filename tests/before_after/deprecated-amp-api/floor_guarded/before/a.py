from torch.cuda.amp import GradScaler


def make():
    return GradScaler()
