import boot
from torch.cuda.amp import autocast


def forward(model, x):
    with autocast():
        return model(x), boot
