import torch


def clip_scaled(model, optimizer, loader, max_norm):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm * scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()


def divide_by_hand(model, optimizer, loader, max_norm):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        inverse = 1.0 / scaler.get_scale()
        for parameter in model.parameters():
            parameter.grad.mul_(inverse)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        scaler.step(optimizer)
        scaler.update()
