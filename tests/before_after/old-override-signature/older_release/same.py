# fixer: target=transformers==4.40.2
from transformers import Trainer


class Counting(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        return super().compute_loss(model, inputs, return_outputs)
