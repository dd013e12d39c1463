import argparse

import torch

from layers import HalfSoftmaxAttention

parser = argparse.ArgumentParser()
parser.add_argument("--region-dtype")
parser.add_argument("--steps", type=int, default=10)
args = parser.parse_args()

model = torch.nn.Sequential(torch.nn.Linear(16, 32), HalfSoftmaxAttention(32), torch.nn.Linear(32, 1)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
options = {"dtype": getattr(torch, args.region_dtype)} if args.region_dtype else {}
for _ in range(args.steps):
    x = torch.randn(8, 10, 16, device="cuda")
    with torch.autocast("cuda", **options):
        loss = model(x).float().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
