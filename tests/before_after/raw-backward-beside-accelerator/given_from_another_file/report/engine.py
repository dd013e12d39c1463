def train_one_epoch(accelerator, model, optimizer, loader):
    for batch in loader:
        with accelerator.accumulate(model):
            loss = model(batch).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
