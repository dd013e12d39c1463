from torch.cuda.amp import GradScaler, autocast


class Trainer:
    def __init__(self, model, optimizer, use_amp):
        self.model, self.optimizer = model, optimizer
        self.scaler = GradScaler(enabled=use_amp)

    def step(self, inputs, targets):
        with autocast():
            loss_dict = self.model(inputs, targets)
            losses = sum(loss for loss in loss_dict.values())
        self.scaler.scale(losses).backward(retain_graph=True)
        self.scaler.step(self.optimizer)
        self.scaler.update()
