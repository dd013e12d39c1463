# fixer: target=transformers==5.23.0
import torch
from transformers import Trainer


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits, inputs["labels"], weight=self.weight)
        return (loss, outputs) if return_outputs else loss
