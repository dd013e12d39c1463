import torch


def train(model, loader, optimizer):
    for batch in loader:
        optimizer.zero_grad()
        # accelerate the forward pass
        with torch.amp.autocast("cuda"):
            loss = model(batch).mean()
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
