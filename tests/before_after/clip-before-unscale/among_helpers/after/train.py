import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from model import Net
from utils import AverageMeter, accuracy, get_logger, save_checkpoint

logger = get_logger(__name__)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    args.distributed = False
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    loader = DataLoader(TensorDataset(torch.randn(64, 32), torch.randint(10, (64,))), batch_size=8)
    losses = AverageMeter("loss")
    for epoch in range(args.epochs):
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                output = model(x)
                loss = F.cross_entropy(output, y)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            losses.add(loss.item(), len(x))
            logger.info("accuracy %.3f", accuracy(output, y))
        save_checkpoint({"model": model.state_dict(), "epoch": epoch}, "out")


if __name__ == "__main__":
    main()
