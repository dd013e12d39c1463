import torch
from accelerate import Accelerator

from engine import train_one_epoch


def main(model, loader):
    accelerator = Accelerator(mixed_precision="fp16", gradient_accumulation_steps=4)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(3):
        train_one_epoch(accelerator, model, optimizer, loader)
