import torch
import torch.nn.functional as F


def divided(net, loader):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), create_graph=True)
        inverse = 1.0 / scaler.get_scale()
        found = [each * inverse for each in found]
        penalty = sum(each.square().sum() for each in found).sqrt()
        scaler.scale(loss + penalty).backward()
        scaler.step(optimizer)
        scaler.update()


def unscaled(critic, loader):
    """The penalty of a WGAN: the output is differentiated as it is."""
    optimizer, scaler = torch.optim.Adam(critic.parameters()), torch.amp.GradScaler("cuda")
    for x in loader:
        (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
        scaler.scale(((gradient.norm(dim=1) - 1) ** 2).mean()).backward()
        scaler.step(optimizer)
        scaler.update()


def product(net, loader, direction):
    """A product with the Hessian has one scale, and is scaled no second time."""
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    for x in loader:
        found = torch.autograd.grad(scaler.scale(net(x).mean()), list(net.parameters()), create_graph=True)
        sum((each * other).sum() for each, other in zip(found, direction)).backward()
        scaler.step(optimizer)
        scaler.update()


def without_a_scale(net, loader, wanted):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    for x in loader:
        first, second = torch.autograd.grad(scaler.scale(net(x).mean()), list(net.parameters()), create_graph=True)
        scaler.scale(first.norm() / second.norm()).backward()
        (one,) = torch.autograd.grad(scaler.scale(net(x).mean()), x, create_graph=True)
        scaler.scale(F.cosine_similarity(one.flatten(), wanted, dim=0)).backward()
        (part,) = torch.autograd.grad(scaler.scale(net(x).mean()), x, create_graph=True)
        scaler.scale((part * part.square().sum() ** -0.5).sum() + part.square().sum().pow(-1.0) * part.sum()).backward()
        (other,) = torch.autograd.grad(scaler.scale(net(x).mean()), x, create_graph=True)
        scaler.scale((F.normalize(other) - wanted).square().sum()).backward()
        scaler.step(optimizer)
        scaler.update()


def shown(net, loader):
    """Gradients that are only looked at."""
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    for x in loader:
        loss = net(x).mean()
        scaled = scaler.scale(loss)
        found = torch.autograd.grad(scaled, list(net.parameters()), create_graph=True)
        print([each.norm().item() for each in found])
        scaler.scale(loss + sum(each.detach().norm() for each in found)).backward()
        scaler.step(optimizer)
        scaler.update()
        first = torch.autograd.grad(scaler.scale(net(x).mean()), list(net.parameters()), retain_graph=True)
        scaler.scale(net(x).mean() + first[0].norm()).backward()


def scaled_by_hand(net, loader, scale):
    optimizer, scaler = torch.optim.SGD(net.parameters(), 0.01), torch.amp.GradScaler("cuda")
    for x in loader:
        loss = net(x).mean()
        found = torch.autograd.grad(scaler.scale(loss), list(net.parameters()), create_graph=True)
        for each in found:
            each.div_(scale)
        penalty = found[0].norm()
        penalty /= scale
        scaler.scale(loss + penalty).backward()
        scaler.step(optimizer)
        scaler.update()
