import torch


def bundle(**parts):
    saved = {}
    for name, part in parts.items():
        if isinstance(part, torch.nn.Module) or type(part).__module__ == "torch.cuda.amp.grad_scaler":
            saved[name] = part.state_dict()
    return saved
