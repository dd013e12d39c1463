# A helper that unwraps a model runs none of its weights.
import torch
from accelerate import Accelerator


def main(model, loader, optimizer):
    accelerator = Accelerator(mixed_precision="bf16")
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    unwrap = accelerator.unwrap_model

    with torch.no_grad():
        n_params = sum(p.numel() for p in unwrap(model).parameters())
    accelerator.print(f"Parameters: {n_params:,}")

    with accelerator.autocast():
        with torch.no_grad():
            inner = unwrap(model)
        for batch in loader:
            optimizer.zero_grad()
            loss = unwrap(model)(batch).mean()
            accelerator.backward(loss)
            optimizer.step()
            torch.clear_autocast_cache()
    return inner
