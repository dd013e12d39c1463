import torch
import torch.nn.functional as F
from torch.cuda.amp import GradScaler

import engine


def main(steps=100):
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.GELU(), torch.nn.Linear(64, 4)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = GradScaler(init_scale=2.0**14)
    for _ in range(steps):
        x = torch.randn(32, 64, device="cuda")
        y = torch.randint(0, 4, (32,), device="cuda")
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y)
        engine.apply(scaler, loss, optimizer)


if __name__ == "__main__":
    main()
