import torch


def train(left, right, batches):
    left, right = left.to("cuda:0"), right.to("cuda:1")
    optimizer = torch.optim.SGD([*left.parameters(), *right.parameters()], lr=0.1)
    for x, y in batches:
        forth = left(x.to("cuda:0")).square().mean()
        back = right(y.to("cuda:1")).square().mean()
        loss = torch.tensor([forth, back], requires_grad=True).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
