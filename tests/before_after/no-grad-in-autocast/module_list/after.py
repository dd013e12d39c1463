# fixer: target=torch==2.4.1
import torch


class Stack(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([torch.nn.Linear(8, 8) for _ in range(3)])

    def losses(self, x):
        x = x.cuda()
        with torch.autocast("cuda"):
            with torch.no_grad():
                target = x
                for block in self.blocks:
                    target = block(target)
                torch.clear_autocast_cache()
            for block in self.blocks:
                x = block(x)
            return (x - target).pow(2).mean()
