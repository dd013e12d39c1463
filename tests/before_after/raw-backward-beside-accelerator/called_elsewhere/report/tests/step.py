import torch
from accelerate import Accelerator
from train import train_step


def test_one_step(batch):
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_step(Accelerator(), model, optimizer, batch)
