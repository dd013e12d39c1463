import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    scaler.scale(torch.zeros(1, device="cuda"))  # sets the scale up before it is loaded
    for batch in loader:
        loss = model(batch)
        print(scaler.scale(loss).item())
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def named(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = scaler.scale(model(batch))
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def nothing_follows(model, scaler, optimizer, batch):
    scaler.scale(model(batch))
    scaler.step(optimizer)
    scaler.update()
