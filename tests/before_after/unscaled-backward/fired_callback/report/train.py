import torch
import torch.nn.functional as F


def fire(callbacks, event):
    for callback in callbacks:
        getattr(callback, f"on_{event}", lambda: None)()


def train(model, batches, noise, callbacks):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y) * torch.exp(-noise) + noise
        loss.backward()
        fire(callbacks, "backward_end")
        scaler.step(optimizer)
        scaler.update()
    return model
