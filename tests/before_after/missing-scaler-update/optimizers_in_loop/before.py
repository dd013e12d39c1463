import torch


def train(layers, loader, criterion, device="cuda", init_scale=2.0**16):
    optimizers = [torch.optim.SGD(layer.parameters(), lr=0.05) for layer in layers]
    scaler = torch.amp.GradScaler(device, init_scale=init_scale)
    for inputs, targets in loader:
        for optimizer in optimizers:
            optimizer.zero_grad()
        outputs = inputs
        for layer in layers:
            outputs = layer(outputs)
        scaler.scale(criterion(outputs, targets)).backward()
        for index, optimizer in enumerate(optimizers):
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(layers[index].parameters(), 5.0)
            scaler.step(optimizer)
