def train_step(model, optimizer, scaler, batch):
    scaler.scale(model(batch)).backward()
    scaler.step(optimizer)
