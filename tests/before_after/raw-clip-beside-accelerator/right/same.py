import torch
from accelerate import Accelerator


def of_the_accelerator(model, batches):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in batches:
        accelerator.backward(model(x).mean())
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


def beside_it(model, critic, batches):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    second = torch.optim.SGD(critic.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for x, y in batches:
        critic(x).mean().backward()
        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        second.step()
