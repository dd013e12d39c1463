import torch
import torch.nn.functional as F
from torch import nn

from state import restore, save


def epoch_of(model, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def main(epochs=90):
    x, y = torch.load("points.pt")
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), 128, shuffle=True)
    model = nn.Sequential(nn.Linear(x.shape[1], 256), nn.ReLU(), nn.Linear(256, int(y.max()) + 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
    first = restore("run.pt", model, optimizer, scheduler)
    for epoch in range(first, epochs):
        scheduler.step()
        loss = epoch_of(model, optimizer, loader)
        print(epoch, loss, optimizer.param_groups[0]["lr"])
        save("run.pt", epoch, model, optimizer, scheduler)


if __name__ == "__main__":
    main()
