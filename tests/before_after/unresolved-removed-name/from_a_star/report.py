# fixer: upgrade=transformers@5.23.0
from transformers.trainer import *


class Saving(Trainer):
    def save(self):
        if IS_SAGEMAKER_MP_POST_1_10:
            return None
        return isinstance(self.model, PreTrainedModel)
