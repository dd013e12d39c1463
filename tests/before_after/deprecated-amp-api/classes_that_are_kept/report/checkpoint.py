import os

import torch

STATEFUL = (torch.nn.Module, torch.optim.Optimizer, torch.cuda.amp.GradScaler)


def save(path, epoch, **parts):
    state = {"epoch": epoch}
    for name, part in parts.items():
        if not isinstance(part, STATEFUL):
            raise TypeError(f"{name}: cannot save a {type(part).__name__}")
        state[name] = part.state_dict()
    torch.save(state, path)


def restore(path, **parts):
    if not os.path.exists(path):
        return 0
    state = torch.load(path, map_location="cuda")
    for name, part in parts.items():
        if isinstance(part, STATEFUL):
            part.load_state_dict(state[name])
    return state["epoch"]
