def fit(module, loader, epochs=1):
    """The estimate of a step is in `.grad` when it returns."""
    optimizer = module.configure_optimizers()
    module.train()
    for _ in range(epochs):
        for i, batch in enumerate(loader):
            value = module.training_step(batch, i)
            optimizer.step()
            print(f"{i}: {value:.4f}")
