class MeanOfBatches:
    """Forgets the number of items: the Trainer then divides by the accumulated batches itself."""

    def training_step(self, model, inputs, num_items_in_batch=None):
        return super().training_step(model, inputs, None)
