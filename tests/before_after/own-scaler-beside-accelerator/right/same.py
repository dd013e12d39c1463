import torch
from accelerate import Accelerator


def of_the_program(model, batches):
    accelerator = Accelerator(mixed_precision="no")
    scaler = torch.amp.GradScaler("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for x, y in accelerator.prepare(batches):
        accelerator.backward(scaler.scale(model(x).mean()))
        scaler.step(optimizer)
        scaler.update()


def of_its_own(critic, x):
    scaler = torch.amp.GradScaler("cuda")
    second = torch.optim.SGD(critic.parameters(), lr=0.1)
    scaler.scale(critic(x).mean()).backward()
    scaler.step(second)
    scaler.update()
