import torch
from torch.optim.lr_scheduler import LambdaLR
from transformers import get_linear_schedule_with_warmup


def falling(optimizer, steps):
    return LambdaLR(optimizer, lambda step: 1.0 - step / steps)


def schedule_of(optimizer, batches, every, kind):
    steps = 10 * len(batches) // every
    if kind == "linear":
        schedule = get_linear_schedule_with_warmup(optimizer, steps // 10, steps)
    elif kind == "falling":
        schedule = falling(optimizer, steps)
    elif kind == "constant":
        schedule = None
    else:
        raise NotImplementedError(kind)
    return schedule, steps


def optimizer_of(model, kind):
    if kind == "sgd":
        return torch.optim.SGD(model.parameters(), lr=0.1)
    return torch.optim.AdamW(model.parameters(), lr=0.1)


def main(model, batches, kind, most, every=4):
    optimizer = optimizer_of(model, kind)
    schedule, steps = schedule_of(optimizer, batches, every, kind)
    for _ in range(10):
        for number, x in enumerate(batches):
            steps_now = (number + 1) % every == 0
            (model(x).pow(2).mean() / every).backward()
            if steps_now:
                optimizer.step()
                optimizer.zero_grad()
            if schedule is not None:
                schedule.step()
            if most > 0 and number > most:
                break
