import torch


def critic_in_float32(generator, critic, optimizer_g, optimizer_c, loader):
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        scaler.scale(-critic(generator(real)).mean()).backward()
        scaler.step(optimizer_g)
        scaler.update()
        critic_loss = critic(real).mean()
        critic_loss.backward()
        optimizer_c.step()


def averaged(model, optimizer, weights_optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        scaler.step(optimizer)
        scaler.update()
        weights_optimizer.step()


def by_hand(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
        for parameter in model.parameters():
            parameter.grad /= scaler.get_scale()
        optimizer.step()


def disabled(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    for batch in loader:
        scaler.scale(model(batch)).backward()
        optimizer.step()
