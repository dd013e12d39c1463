def train_step(model, scaler, optimizer, batch):
    optimizer.zero_grad()
    loss = model(batch)
    loss.backward()
    scaler.step(optimizer)
    scaler.update()
