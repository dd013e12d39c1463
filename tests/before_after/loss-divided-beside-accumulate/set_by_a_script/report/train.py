import argparse

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn


def train(model, batches, steps):
    accelerator = Accelerator(gradient_accumulation_steps=steps, cpu=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model, optimizer = accelerator.prepare(model, optimizer)
    losses = []
    for number, (x, y) in enumerate(batches, start=1):
        loss = F.mse_loss(model(x), y)
        accelerator.backward(loss / steps)
        if number % steps == 0:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulate", type=int, default=4)
    torch.manual_seed(0)
    data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(16)]
    print(train(nn.Linear(4, 1), data, parser.parse_args().accumulate)[-1])
