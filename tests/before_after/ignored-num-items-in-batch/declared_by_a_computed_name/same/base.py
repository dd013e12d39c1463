from transformers import Trainer


class WeightedTrainer(Trainer):
    """Examples have weights; the mean of a batch is weighted, and accumulated batches are averaged."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        setattr(self, "model_accepts_" + "loss_kwargs", False)

    def compute_loss(self, model, inputs, return_outputs=False, **_):
        weights = inputs.pop("weight", None)
        outputs = model(**inputs)
        loss = outputs["loss"] if weights is None else (outputs["loss"] * weights).mean()
        return (loss, outputs) if return_outputs else loss
