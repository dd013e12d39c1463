import torch


@torch.no_grad()
def decorated(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.mul_(decay).add_(p, alpha=1 - decay)


def right(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.data.mul_(decay).add_(p.data, alpha=1 - decay)
    for e, p in zip(ema.parameters(), model.parameters()):
        e.mul_(decay).add_(p.detach(), alpha=1 - decay)
    for key, value in model.state_dict().items():
        ema.state_dict()[key].mul_(decay).add_(value, alpha=1 - decay)
    with torch.inference_mode():
        for e, p in zip(ema.parameters(), model.parameters()):
            e.copy_(p)
    for e, b in zip(ema.buffers(), model.buffers()):
        e.copy_(b)
    grads = [p.grad for p in model.parameters()]
    for g, p in zip(grads, model.parameters()):
        g.add_(p, alpha=0.1)
