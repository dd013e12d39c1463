import torch
import torch.nn.functional as F


class Mixing:
    def __init__(self, model, optimizer, head_only):
        self.model = model
        self.optimizer = optimizer
        self.head_only = head_only

    def step(self, x, y, unlabelled):
        self.optimizer.zero_grad()
        with torch.autocast("cuda"):
            with torch.no_grad():
                guess = self.model(unlabelled)
                torch.clear_autocast_cache()
            seen = self.model(x)
            both = torch.cat([seen["features"], guess["features"]]).split(len(x))
            first = self.model(both[0], head_only=self.head_only)
            second = self.model(both[1], head_only=self.head_only)
            loss = F.cross_entropy(first, y.cuda()) + F.mse_loss(second, guess["logits"])
        loss.backward()
        self.optimizer.step()
