import torch

try:
    from apex.contrib.clip_grad import clip_grad_norm_
except ModuleNotFoundError:
    from torch.nn.utils import clip_grad_norm_


def clip_gradients(model, clip):
    for parameter in model.parameters():
        if parameter.grad is not None:
            norm = parameter.grad.data.norm(2)
            if clip / (norm + 1e-6) < 1:
                parameter.grad.data.mul_(clip / (norm + 1e-6))


def train(student, optimizer, loader, fp16_scaler: torch.amp.GradScaler | None, clip_grad):
    for images in loader:
        loss = student(images)
        if fp16_scaler is None:
            loss.backward()
            clip_gradients(student, clip_grad)
            optimizer.step()
        else:
            fp16_scaler.scale(loss).backward()
            if clip_grad:
                fp16_scaler.unscale_(optimizer)
                clip_gradients(student, clip_grad)
            fp16_scaler.step(optimizer)
            fp16_scaler.update()


def finetune(model, optimizer, loader, scaler: torch.amp.GradScaler):
    for images in loader:
        scaler.scale(model(images)).backward()
        scaler.unscale_(optimizer)
        clip_grad_norm_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
