import torch


class Trainer:
    def epoch(self, loader):
        for data in loader:
            self.optimizer.zero_grad()
            # a tensor, or an object of this project whose `item()` is one
            loss = self.criterion(self.model(data), data)
            loss.item().backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
