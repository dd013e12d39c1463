# fixer: unsafe


def train_one_epoch(model, optimizer, scaler, loader, use_amp):
    for batch in loader:
        optimizer.zero_grad()
        loss = model(batch)
        if use_amp:
            scaler.scale(loss).backward()
        else:
            loss.backward()
        if use_amp:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
