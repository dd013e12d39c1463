import torch


def train(first, second, opt_a, arguments, options, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update()
        scaler.step(*arguments)
        scaler.update()


def update_with(first, second, opt_a, opt_b, options, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.update(**options)
        scaler.step(opt_b)
        scaler.update(**options)
