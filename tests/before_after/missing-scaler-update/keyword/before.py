import torch

scaler = torch.amp.GradScaler(device="cuda", growth_interval=100)


def train_step(model, optimizer, batch):
    scaler.scale(outputs=model(batch)).backward()
    scaler.step(
        optimizer=optimizer,
    )
