import torch


def clip_for_logs(text, limit):
    return text[:limit]


def clip_boxes(boxes, size):
    boxes.clamp_(0, size)
    return boxes


def gradient_norm(model):
    return torch.stack([p.grad.norm() for p in model.parameters()]).norm()


def train(model, optimizer, loader, scaler, log):
    for images in loader:
        scaler.scale(model(images)).backward()
        log(clip_for_logs("step", 80))
        clip_boxes(images, 512)
        scaler.step(optimizer)
        scaler.update()
