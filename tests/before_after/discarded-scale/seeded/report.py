import torch


def train(model, batches):
    optimizer = torch.optim.Adam(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    seed = torch.empty((), device="cuda")
    for x, y in batches:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(model(x), y)
        seed.fill_(scaler.get_scale())
        scaler.scale(loss)
        loss.backward(gradient=seed)
        scaler.step(optimizer)
        scaler.update()
