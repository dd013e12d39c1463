import torch


def train(first, second, opt_a, opt_b, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(first(inputs).mean() + second(inputs).mean()).backward()
        scaler.step(opt_a)
        scaler.step(opt_b)
        scaler.update()


def train_all(model, optimizers, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()


def last_of_loop(model, optimizers, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        for number, optimizer in enumerate(optimizers, start=1):
            scaler.step(optimizer)
            if number == len(optimizers):
                scaler.update()


def left_after_one(model, optimizers, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        scaler.scale(model(inputs).mean()).backward()
        for optimizer in optimizers:
            scaler.step(optimizer)
            scaler.update()
            break


def alone(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        optimizer.zero_grad()
        scaler.scale(model(inputs).mean()).backward()
        for one in [optimizer]:
            scaler.step(one)
            scaler.update()
    scaler.scale(model(inputs).mean()).backward()
    scaler.step(optimizer)
    scaler.update()
