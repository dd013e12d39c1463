import torch


class Critic:
    def __init__(self, net):
        self.net, self.weight = net, 10.0
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, real, fake, mixed):
        self.optimizer.zero_grad()
        out = self.net(mixed)
        scaled = self.scaler.scale(out.sum())
        (gradients,) = torch.autograd.grad([scaled], mixed, torch.ones_like(scaled), True, True)
        norms = gradients.view(len(mixed), -1).norm(2, dim=1)
        penalty = ((norms - 1) ** 2).mean() / 2
        loss = self.net(fake).mean() - self.net(real).mean() + self.weight * penalty
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss.item()


def of_each(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    parameters = list(net.parameters())
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(outputs=scaler.scale(loss), inputs=parameters, create_graph=True)
        total = sum(each.abs().sum() for each in found)
        norm = torch.stack([each.norm() for _, each in zip(parameters, found)]).norm()
        print(norm.item(), len(found))
        scaler.scale(loss + total).backward()
        scaler.step(optimizer)
        scaler.update()
