import torch


def step(model, scaler, optimizer, batch):
    output = model(batch)
    scaler.scale(output["loss"])
    optimizer.zero_grad()
    torch.autograd.backward(output["loss"], retain_graph=False)
    scaler.step(optimizer)
    scaler.update()
