import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        return self.layer(x).pow(2).mean()

    def configure_optimizers(self, rate):
        return torch.optim.AdamW(self.parameters(), lr=rate)


def main(path, batches, compiled):
    model = Net().cuda()
    if compiled:
        model = torch.compile(model)
    scaler = torch.amp.GradScaler("cuda")
    optimizer = model.configure_optimizers(1e-3)
    optimizer.load_state_dict(torch.load(path)["optimizer"])
    for x in batches:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    torch.save({"optimizer": optimizer.state_dict()}, path)
