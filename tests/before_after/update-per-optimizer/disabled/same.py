import torch


def train(first, second, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(opt_b)
        scaler.update()


def constant_scale(first, second, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update(1024.0)
        scaler.step(opt_b)
        scaler.update(new_scale=1024.0)
