# fixer: target=torch>=2.4
import torch
import torch.cuda.amp.autocast_mode


def train(model, loader, optimizer, dtype):
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**16, growth_factor=2.0, growth_interval=100)
    backup = torch.amp.GradScaler("cuda")
    for x, y in loader:
        with torch.amp.autocast("cuda", enabled=False):
            warm = model(x)
        with torch.amp.autocast("cuda", enabled=True, dtype=dtype, cache_enabled=False), torch.no_grad():
            target = model(x)
        with torch.amp.autocast("cuda", dtype=dtype):
            loss = (model(x) - target - warm).mean()
        with torch.amp.autocast(
            "cuda",
            enabled=True,  # half of the time
        ):
            loss = loss + model(y).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


class Block(torch.nn.Module):
    @torch.amp.autocast("cuda", enabled=False)
    def forward(self, x):
        return x
