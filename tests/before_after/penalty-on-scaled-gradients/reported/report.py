import torch


def train(net, loader):
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(net(x), y)
        gradients = torch.autograd.grad(scaler.scale(loss), net.parameters(), create_graph=True)
        penalty = 0
        for gradient in gradients:
            penalty += gradient.pow(2).sum()
        scaler.scale(loss + 0.1 * penalty.sqrt()).backward()
        scaler.step(optimizer)
        scaler.update()
