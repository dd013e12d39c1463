import torch


def clip(scaler, optimizer, net):
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)


def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        for part in x.chunk(2):
            scaler.scale(net(part).mean()).backward()
            scaler.unscale_(optimizer)
        clip(scaler, optimizer, net)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def train_in_steps(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        optimizer.zero_grad()
        scaler.scale(net(x).mean()).backward()
        scaler.unscale_(optimizer)
        clip(scaler, optimizer, net)
        scaler.step(optimizer)
        scaler.update()
