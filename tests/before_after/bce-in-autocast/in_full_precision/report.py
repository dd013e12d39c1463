import torch
import torch.nn as nn
import torch.nn.functional as F


class Head(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, 1, 1)

    def forward(self, x):
        with torch.autocast(x.device.type, enabled=False):
            return self.conv(x.float())


class Net(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.stem = nn.Conv2d(3, channels, 3, padding=1)
        self.body = nn.Conv2d(channels, channels, 3, padding=1)
        self.head = Head(channels)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = F.relu(self.body(x)) + x
        return self.head(x)


def train(batches, epochs=2):
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(epochs):
        for image, mask in batches:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.binary_cross_entropy(torch.sigmoid(model(image)), mask)
            loss.backward()
            optimizer.step()
    return loss.item()


if __name__ == "__main__":
    data = [(torch.randn(2, 3, 32, 32), (torch.rand(2, 1, 32, 32) > 0.5).float()) for _ in range(8)]
    print(train(data))
