import torch
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR


class WarmUp(LambdaLR):
    def __init__(self, optimizer, warm_up, total):
        super().__init__(optimizer, lambda step: min(step / warm_up, max(0.0, (total - step) / (total - warm_up))))


def train(args, model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = WarmUp(optimizer, args.warm_up, args.num_steps)
    model.zero_grad()
    for step, (x, y) in enumerate(batches):
        loss = F.mse_loss(model(x), y) / args.accumulate
        loss.backward()
        scheduler.step()
        if (step + 1) % args.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
