import torch


def train(model, batches):
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    for x, y in batches:
        torch.nn.functional.mse_loss(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
