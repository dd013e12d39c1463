import torch


def train(model, optimizer, loader, max_norm, log):
    scaler = torch.cuda.amp.GradScaler()
    for batch in loader:
        scaler.scale(model(batch)).backward()
        if torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm) > 10:
            log("large gradients")
        scaler.step(optimizer)
        scaler.update()
