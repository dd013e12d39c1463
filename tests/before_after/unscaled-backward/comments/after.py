import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        loss = model(batch)
        # both
        # of the weights
        # that is all
        scaler.scale(loss  # of the task
            + loss.norm()).backward()  # raw
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(
            model.parameters(),  # of all
            1.0,
        )
        scaler.step(optimizer)
        scaler.update()
