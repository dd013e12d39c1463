from torch.cuda.amp import GradScaler


class Trainer:
    def __init__(self, model, optimizer, accumulate):
        self.model, self.optimizer, self.accumulate = model, optimizer, accumulate
        self.scaler = GradScaler()

    def train(self, loader):
        for step, batch in enumerate(loader):
            output = self.model(batch)
            output.loss.backward()
            if (step + 1) % self.accumulate == 0:
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()
