import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build(inputs):
    return nn.Sequential(nn.Linear(inputs, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 30))


def main(path="genes.pt", n=8, epochs=12):
    data = TensorDataset(*torch.load(path))
    model = build(data.tensors[0].shape[1])
    loader = DataLoader(data, batch_size=n, shuffle=True, drop_last=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=epochs * (len(data) // n))

    model.train()
    for epoch in range(epochs):
        optimizer.zero_grad()
        for i, (x, y) in enumerate(loader, 1):
            loss = F.cross_entropy(model(x), y) / n
            loss.backward()
            if i % n == 0:
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()
        print(epoch, n * loss.item(), scheduler.get_last_lr()[0])
    torch.save(model.state_dict(), "genes_model.pt")


if __name__ == "__main__":
    main()
