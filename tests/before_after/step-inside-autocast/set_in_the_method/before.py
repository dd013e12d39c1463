import torch
import torch.nn.functional as F


class Run:
    def train(self, batches):
        self.net = torch.nn.Linear(8, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for x, y in batches:
                self.optimizer.zero_grad()
                F.mse_loss(self.net(x), y).backward()
                self.optimizer.step()
