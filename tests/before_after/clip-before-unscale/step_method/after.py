import torch


class Trainer:
    def __init__(self, model, optimizer, max_norm, device="cuda"):
        self.model, self.optimizer, self.max_norm = model, optimizer, max_norm
        self.grad_scaler = torch.amp.GradScaler(device, init_scale=1024)

    def train_step(self, batch):
        loss = self.model(batch)
        self.grad_scaler.scale(loss).backward()

    def optimizer_step(self):
        self.grad_scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.grad_scaler.step(self.optimizer)
        self.grad_scaler.update()
        self.optimizer.zero_grad()
