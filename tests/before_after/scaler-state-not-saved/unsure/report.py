import torch


class Training:
    def __init__(self, model, parts):
        self.model = model
        self.parts = parts
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.scaler = torch.cuda.amp.GradScaler()

    def resume(self, state):
        self.optimizer.load_state_dict(state["optimizer"])
        for name, part in self.parts.items():
            part.load_state_dict(state[name])

    def step(self, x):
        self.scaler.scale(self.model(x).mean()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()
