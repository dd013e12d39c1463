import torch
import torch.nn.functional as F


class Engine:
    def fit(self, model, optimizer, batches):
        for x, y in batches:
            F.mse_loss(model(x), y).backward()
            optimizer.step()
