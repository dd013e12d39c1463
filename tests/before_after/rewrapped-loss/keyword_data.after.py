import torch


def train(model, x, y):
    loss = torch.nn.functional.mse_loss(input=model(x), target=y)
    loss.backward()
    torch.stack([loss, loss]).to(device=x.device).sum().backward()
