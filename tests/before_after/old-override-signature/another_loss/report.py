# fixer: target=transformers==5.23.0
from transformers import Trainer


class Weighted(Trainer):
    loss = None

    def compute_loss(self, model, inputs, return_outputs=False):
        if self.loss is None:
            return super().compute_loss(model, inputs, return_outputs)
        return self.loss(model, inputs)
