import torch


def train(net, loader, weight):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), create_graph=True)
        penalty = sum(each.square().sum() for each in found) * weight
        scaler.scale(loss + penalty).backward()
        scaler.step(optimizer)
        scaler.update()
