import torch


def train(net, loader, accumulate):
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for i, (x, y) in enumerate(loader):
        scaler.scale(torch.nn.functional.mse_loss(net(x), y) / accumulate).backward()
        if (i + 1) % accumulate == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def two_networks(generator, critic, loader):
    first = torch.optim.Adam(generator.parameters())
    second = torch.optim.Adam(critic.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        scaler.scale(critic(generator(x)).mean()).backward()
        scaler.unscale_(first)
        scaler.unscale_(second)
        torch.nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
        scaler.step(first)
        scaler.step(second)
        scaler.update()


def one_after_the_other(generator, critic, loader):
    """An update after each step, as some GANs have it: `optimizer` is another one the second time."""
    optimizers = [torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())]
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        scaler.scale(critic(generator(x)).mean()).backward()
        for optimizer in optimizers:
            scaler.unscale_(optimizer)
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        for i in range(2):
            scaler.scale(critic(generator(x)).mean()).backward()
            scaler.unscale_(optimizers[i])
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()


def either_way(net, loader, clip, norm):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(net(x).mean()).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), norm)
        else:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    scaler.scale(net(x).mean()).backward()
    scaler.unscale_(optimizer)
    return [p.grad.norm() for p in net.parameters()]


def tested(net, loader, clip):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        scaler.scale(net(x).mean()).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if not clip:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()


def again(net, batches):
    """A step that is tried with a smaller batch: the update makes the scaler forget the first one."""
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in batches:
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        norm = torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if not torch.isfinite(norm):
            scaler.update()
            optimizer.zero_grad()
            continue
        scaler.step(optimizer)
        scaler.update()
