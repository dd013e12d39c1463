# fixer: unsafe
from torch.cuda.amp import GradScaler


def finish(scaler: GradScaler, opt_a, opt_b):
    scaler.unscale_(optimizer=opt_b)
    scaler.step(optimizer=opt_a)
    scaler.update()
    scaler.step(optimizer=opt_b)
    scaler.update()
