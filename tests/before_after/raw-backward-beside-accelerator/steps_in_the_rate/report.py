import torch
from accelerate import Accelerator


def make(model, rate, accelerator):
    micro = accelerator.gradient_accumulation_steps
    return torch.optim.SGD(model.parameters(), rate / micro)


def main(model, batches):
    accelerator = Accelerator(gradient_accumulation_steps=8)
    optimizer = make(model, 0.5, accelerator)
    model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
    for x, y in batches:
        with accelerator.accumulate(model):
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
