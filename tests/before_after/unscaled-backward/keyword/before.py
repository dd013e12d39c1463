import torch


def train(model, optimizer, loader, use_amp):
    scaler = torch.amp.GradScaler(device="cuda", enabled=use_amp)
    for batch in loader:
        loss = model(batch)
        loss.backward(
            retain_graph=True,  # for the report below
            inputs=list(model.parameters()),
        )
        scaler.step(optimizer=optimizer)
        scaler.update()
