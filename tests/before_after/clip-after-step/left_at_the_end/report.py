import torch
import torch.nn.functional as F


def made_of(args, model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, args.steps + 100)


def train(args, model, batches):
    optimizer, scheduler = made_of(args, model)
    steps, goes_on = 0, True
    while goes_on:
        for x, y in batches:
            optimizer.zero_grad()
            F.mse_loss(model(x), y).backward()
            optimizer.step()
            scheduler.step()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            steps += 1
            if steps > args.steps:
                goes_on = False
                break
    return model
