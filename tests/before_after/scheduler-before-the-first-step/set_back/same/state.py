import os

import torch


def save(path, epoch, model, optimizer, scheduler):
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    torch.save({"epoch": epoch, **{name: part.state_dict() for name, part in parts.items()}}, path)


def restore(path, model, optimizer, scheduler):
    if not os.path.exists(path):
        scheduler.last_epoch = -1
        return 0
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    scheduler.load_state_dict(saved["scheduler"])
    return saved["epoch"] + 1
