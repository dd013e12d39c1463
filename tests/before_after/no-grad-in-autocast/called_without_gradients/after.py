# fixer: target=torch==2.4.1
import torch


class Student(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = torch.nn.Linear(8, 8)

    def losses(self, x):
        x = x.cuda()
        with torch.autocast("cuda"):
            target = torch.no_grad()(self.model.forward)(x)
            torch.clear_autocast_cache()
            return (self.model(x) - target).pow(2).mean()
