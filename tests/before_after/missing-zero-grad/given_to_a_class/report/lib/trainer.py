class Trainer:
    def __init__(self, model, criterion, optimizer, batches):
        self.model, self.criterion, self.batches = model, criterion, batches
        self.optimizer = optimizer

    def train_epoch(self):
        for x, y in self.batches:
            print(self.train_batch(x, y).item())

    def train_batch(self, x, y):
        loss = self.criterion(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss
