def loss_of(model, batch, steps):
    return model(batch).mean().div(steps)
