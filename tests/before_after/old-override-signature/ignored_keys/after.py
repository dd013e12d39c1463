# fixer: target=transformers==5.23.0 unsafe
from transformers import Trainer


class Own(Trainer):
    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        return super().prediction_step(model, inputs, prediction_loss_only, ignore_keys=ignore_keys)
