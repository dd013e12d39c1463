import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)

        # scale the loss
        # against underflow
        # in place, or so it seems

        # differentiate
        scaler.scale(loss).backward()  # raw
        # step
        scaler.step(optimizer)
        scaler.update()


def clipped(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        # the loss
        # log it
        print(loss)
        scaler.scale(loss).backward()
        # clip it
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def in_one_line(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        # both
        scaler.scale(loss).backward()  # in one line
        scaler.step(optimizer)
        scaler.update()
