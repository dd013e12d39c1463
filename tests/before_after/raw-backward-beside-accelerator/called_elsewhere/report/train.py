import torch.nn.functional as F
from accelerate import Accelerator


def train_step(accelerator: Accelerator, model, optimizer, batch):
    optimizer.zero_grad()
    loss = F.mse_loss(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()


def main(model, optimizer, loader):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for batch in loader:
        train_step(accelerator, model, optimizer, batch)
