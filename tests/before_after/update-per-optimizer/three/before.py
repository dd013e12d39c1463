# fixer: unsafe
import torch


def train(nets, opts, loader, scheduler):
    scaler = torch.amp.GradScaler("cuda")
    for inputs in loader:
        for net in nets:
            scaler.scale(net(inputs).mean()).backward()
        scaler.step(opts[0])
        scaler.update()
        scaler.step(opts[1])
        scaler.update()
        scheduler.step()
        torch.nn.utils.clip_grad_norm_(nets[2].parameters(), 1.0)
        scaler.step(opts[2])
        scaler.update()
