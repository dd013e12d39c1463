import torch
import torch.nn.functional as F


def box_loss(pred, targets, matched):
    if matched.sum() == 0:
        return torch.zeros((), device=targets.device)
    return F.l1_loss(pred[matched], targets[matched])


def train(model, optimizer, loader, device="cuda"):
    for images, targets, matched in loader:
        optimizer.zero_grad()
        pred = model(images.to(device))
        loss = box_loss(pred, targets.to(device), matched.to(device))
        if not loss.requires_grad:  # nothing to learn from this batch
            loss.requires_grad_()
        loss.backward()
        optimizer.step()
