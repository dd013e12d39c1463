# fixer: target=torch==2.5
import torch.cuda.amp


def step(model, x, enabled):
    with torch.amp.autocast(
        # as the flag says
        "cuda",
        enabled=enabled,
        dtype=torch.float16,  # not bfloat
    ):
        loss = model(x)
    with torch.amp.autocast("cuda", enabled=enabled) as region: loss += model(x)
    scaler = torch.amp.GradScaler(
        "cuda",
        init_scale=2.0**12,
        enabled=enabled,
    ); use(lambda: torch.amp.GradScaler( "cuda"))
    return loss, scaler, region
