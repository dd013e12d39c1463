import torch


def train(model, optimizer, loader, clipping):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward(**clipping["backward"])
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(*clipping["args"], **clipping["kwargs"])
        scaler.step(optimizer, **clipping["step"])
        scaler.update()
