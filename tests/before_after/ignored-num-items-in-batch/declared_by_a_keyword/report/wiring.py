def plain_losses(trainer):
    """The Trainer divides by the number of batches, as it did before 4.46."""
    vars(trainer).update(model_accepts_loss_kwargs=False)
    return trainer
