import torch


def train(net, loader, accumulate):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.1), torch.amp.GradScaler("cuda")
    for i, x in enumerate(loader):
        whole = (i + 1) % accumulate == 0
        scaler.scale(net(x).mean() / accumulate).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        if whole:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
