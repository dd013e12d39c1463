import contextlib

import torch
import torch.distributed as dist


def train(model, batches, accumulate):
    model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, batch in enumerate(batches):
        if dist.is_initialized() and i % accumulate != 0:
            context = model.no_sync()
        else:
            context = contextlib.nullcontext()
        with context:
            loss = model(batch).mean() / accumulate
            loss.backward()
        is_update_step = (i + 1) % accumulate == 0
        if is_update_step:
            optimizer.step()
            optimizer.zero_grad()
