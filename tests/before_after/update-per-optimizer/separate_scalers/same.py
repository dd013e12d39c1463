import torch


def train(first, second, opt_a, opt_b, loader):
    scaler_a = torch.amp.GradScaler("cuda")
    scaler_b = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler_a.scale(first(inputs).mean()).backward()
        scaler_b.scale(second(inputs).mean()).backward()
        scaler_a.step(opt_a)
        scaler_a.update()
        scaler_b.step(opt_b)
        scaler_b.update()
