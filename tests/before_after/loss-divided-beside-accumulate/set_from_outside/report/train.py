import torch
import torch.nn.functional as F
from accelerate import Accelerator
from torch import nn
from windows import manual


def train(batches):
    steps = 2
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model, optimizer = accelerator.prepare(model, optimizer)
    due = manual(accelerator)
    for x, y in batches:
        with accelerator.accumulate(model):
            loss = F.mse_loss(model(x), y)
            accelerator.backward(loss / steps)
            if due():
                optimizer.step()
                optimizer.zero_grad()
    return model

if __name__ == "__main__":
    print(train([(torch.randn(8, 8), torch.randn(8, 1)) for _ in range(6)]))
