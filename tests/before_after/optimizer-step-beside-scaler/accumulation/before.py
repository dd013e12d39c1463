# fixer: unsafe
from torch.cuda.amp import GradScaler


class Trainer:
    def __init__(self, model, optimizer, accumulate):
        self.model, self.optimizer, self.accumulate = model, optimizer, accumulate
        self.scaler = GradScaler()

    def train(self, loader):
        for step, batch in enumerate(loader):
            loss = self.model(batch) / self.accumulate
            self.scaler.scale(loss).backward()
            if (step + 1) % self.accumulate == 0:
                self.optimizer.step(); self.optimizer.zero_grad()
                self.scaler.update()
