import torch


def off(model, state, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=False)
    optimizer.load_state_dict(state["optimizer"])
    scaler.scale(model(x).mean()).backward()
    scaler.step(optimizer)
    scaler.update()


def another(model, critic, state, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    second = torch.optim.SGD(critic.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    second.load_state_dict(state["second"])
    scaler.scale(model(x).mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    second.step()


def without(model, state, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.load_state_dict(state["optimizer"])
    model(x).mean().backward()
    optimizer.step()
