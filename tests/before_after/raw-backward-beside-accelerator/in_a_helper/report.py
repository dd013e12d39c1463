import torch
import torch.nn.functional as F
from accelerate import Accelerator


def micro_step(model, x, y):
    """The loss of one micro batch; leaves the gradients in the model."""
    loss = F.mse_loss(model(x), y)
    loss.backward()
    return loss.detach()


def main(batches):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
    for x, y in batches:
        with accelerator.accumulate(model):
            print(micro_step(model, x, y))
            optimizer.step()
            optimizer.zero_grad()
