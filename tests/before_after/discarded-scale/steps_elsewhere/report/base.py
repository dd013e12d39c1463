import torch


class Stepper:
    def __init__(self, model, lr, device="cuda"):
        self.model, self.device = model, device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler(device)
        self.half = False

    def finish(self):
        if self.half:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad()
