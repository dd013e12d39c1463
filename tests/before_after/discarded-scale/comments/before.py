import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)

        # scale the loss
        # against underflow
        scaler.scale(loss)  # in place, or so it seems

        # differentiate
        loss.backward()  # raw
        # step
        scaler.step(optimizer)
        scaler.update()


def clipped(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        scaler.scale(  # the loss
            loss
        )
        # log it
        print(loss)
        loss.backward()
        # clip it
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def in_one_line(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        # both
        scaler.scale(loss); loss.backward()  # in one line
        scaler.step(optimizer)
        scaler.update()
