import torch


def train(model, optimizer, batches, clip):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        state = scaler.state_dict()
        bound = clip * state["scale"]
        torch.nn.utils.clip_grad_norm_(model.parameters(), bound)
        scaler.step(optimizer)
        scaler.update()
