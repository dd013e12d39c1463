import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, prompt):
        return self.net(prompt)


def learn_prompt(weights, reference, steps=500):
    model = Generator().cuda()
    model.load_state_dict(torch.load(weights))
    model.eval()
    prompt = torch.zeros(1, 256, device="cuda", requires_grad=True)
    optimizer = torch.optim.Adam([prompt], lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            with torch.no_grad():
                target = model(reference.cuda())
            loss = F.mse_loss(model(prompt).float(), target.float())
        loss.backward()
        optimizer.step()
    return prompt.detach()
