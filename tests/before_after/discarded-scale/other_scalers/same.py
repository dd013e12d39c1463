import torch


class InPlace:
    def scale(self, loss):
        loss.data.mul_(1024)

    def step(self, optimizer):
        optimizer.step()

    def update(self):
        pass


def in_place(model, optimizer, loader):
    scaler = InPlace()
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()


def unknown(model, scaler, loader):
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss)
        loss.backward()


def disabled(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for batch in loader:
        loss = model(batch)
        scaler.scale(loss)
        loss.backward()
        scaler.step(optimizer)
        scaler.update()
