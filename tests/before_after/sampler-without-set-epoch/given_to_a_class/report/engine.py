

class Trainer:
    def __init__(self, cfg, model, optimizer, loader, val_loader):
        self.cfg = cfg
        self.model = model
        self.optimizer = optimizer
        self.loader = loader
        self.val_loader = val_loader
        self.epoch = 0

    def run_epoch(self):
        self.model.train()
        for batch in self.loader:
            loss = self.model(**batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def fit(self):
        while self.epoch < self.cfg.epochs:
            self.run_epoch()
            self.epoch += 1
