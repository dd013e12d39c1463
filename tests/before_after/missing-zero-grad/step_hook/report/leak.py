import torch


def leaky(optimizer, keep):
    """Eligibility traces: what a gradient was fades from step to step."""

    def fade(optimizer, args, kwargs):
        traces = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        torch._foreach_mul_(traces, keep)

    return optimizer.register_step_post_hook(fade)
