import torch


def step(model, scaler, optimizer, batch):
    output = model(batch)
    optimizer.zero_grad()
    torch.autograd.backward(scaler.scale(output["loss"]), retain_graph=False)
    scaler.step(optimizer)
    scaler.update()
