import site_setup
import torch
import torch.nn.functional as F


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.cuda.amp.autocast():
            prediction = model(x)
        loss = F.mse_loss(prediction.float(), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return prediction
