# fixer: target=transformers==5.23.0
from transformers.trainer import *


class Scored(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        return model(**inputs).loss
