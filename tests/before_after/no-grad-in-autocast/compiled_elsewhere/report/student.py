import torch


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cuda"):
            with torch.no_grad():
                target = self.model(x)
            return (self.model(x) - target).pow(2).mean()
