import torch
import torch.nn.functional as F

from utils import tidy_gradients


class Engine:
    def __init__(self, model, device="cuda"):
        self.model = model
        self.device = device
        self.optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
        self.scaler = torch.amp.GradScaler(device)

    def step(self, x, y):
        self.optimizer.zero_grad()
        with torch.autocast(self.device, dtype=torch.float16):
            loss = F.smooth_l1_loss(self.model(x), y)
        self.scaler.scale(loss)
        loss.backward()
        self.finish()
        return loss.item()

    def finish(self):
        tidy_gradients(self.model)
        self.scaler.step(self.optimizer)
        self.scaler.update()
