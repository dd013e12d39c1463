import torch
from torch.optim import lr_scheduler


class Trainer:
    def __init__(self, model, steps):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        self.schedule = lr_scheduler.OneCycleLR(self.optimizer, 1e-3, total_steps=steps)

    def load(self, path):
        saved = torch.load(path)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        return saved["step"]

    def run(self, batches):
        for x in batches:
            self.optimizer.zero_grad()
            self.model(x).mean().backward()
            self.optimizer.step()
            self.schedule.step()
