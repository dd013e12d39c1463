# fixer: target=torch==2.5
import torch.cuda.amp


def step(model, x, enabled):
    with torch.cuda.amp.autocast(
        # as the flag says
        enabled,
        torch.float16,  # not bfloat
    ):
        loss = model(x)
    with (torch.cuda.amp.autocast)(enabled=enabled) as region: loss += model(x)
    scaler = torch.cuda.amp.GradScaler(
        init_scale=2.0**12,
        enabled=enabled,
    ); use(lambda: torch.cuda.amp.GradScaler( ))
    return loss, scaler, region
