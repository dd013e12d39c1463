import torch
from accelerate import Accelerator


def main(model, data, bound):
    accelerator = Accelerator(mixed_precision="fp16")
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, data = accelerator.prepare(model, optimizer, data)
    for x in data:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).mean())
            if accelerator.sync_gradients:
                clipped = [p for p in model.parameters() if p.grad is not None]
                norm = torch.nn.utils.clip_grad_norm_(clipped, bound)
                print(norm.item())
            optimizer.step()
            optimizer.zero_grad()
