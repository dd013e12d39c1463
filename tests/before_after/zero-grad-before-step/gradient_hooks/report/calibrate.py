import torch
import torch.nn.functional as F
from torch import nn

from importance import Importance


def build():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(64, 10),
    )


def calibrate(model, batches, rounds=200):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, total_iters=rounds)
    scores = Importance(model)
    for number, (image, label) in zip(range(rounds), batches):
        loss = F.cross_entropy(model(image), label)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
        scheduler.step()
    scores.remove()
    return scores.ranking(), optimizer


def main():
    model = build()
    model.load_state_dict(torch.load("dense.pt"))
    images, labels = torch.load("mnist.pt")
    batches = list(zip(images.split(64), labels.split(64)))
    ranking, optimizer = calibrate(model, batches)
    torch.save({"ranking": ranking, "lr": optimizer.param_groups[0]["lr"], "model": model.state_dict()}, "calibrated.pt")


if __name__ == "__main__":
    main()
