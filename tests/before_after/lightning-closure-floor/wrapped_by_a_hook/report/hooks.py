import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook


def with_gradients(optimizer, args, options):
    if options.get("closure") is not None:
        options = options | {"closure": torch.enable_grad()(options["closure"])}
    return args, options


register_optimizer_step_pre_hook(with_gradients)
