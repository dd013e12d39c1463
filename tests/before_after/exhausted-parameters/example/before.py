import torch


def train(batches, max_norm):
    model = torch.nn.Linear(8, 1)
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    norms = []
    for x, y in batches:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_(params, max_norm)))
        optimizer.step()
    return model, norms
