import torch
import torch.nn.functional as F

from base import Stepper


class Trainer(Stepper):
    def first_steps(self, loader):
        """In full precision; only the scaler is set up here, so that its state can be saved."""
        self.half = False
        for x, y in loader:
            loss = F.mse_loss(self.model(x), y)
            self.scaler.scale(loss)
            loss.backward()
            self.finish()

    def fit(self, loader):
        self.half = True
        for x, y in loader:
            with torch.autocast(self.device, dtype=torch.float16):
                loss = F.mse_loss(self.model(x), y)
            self.scaler.scale(loss).backward()
            self.finish()
