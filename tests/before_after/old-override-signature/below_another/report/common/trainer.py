import torch.nn.functional as F
from transformers import Trainer


class SmoothedTrainer(Trainer):
    """Label smoothing that knows the padding."""

    smoothing = 0.1

    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = F.cross_entropy(
            outputs.logits.flatten(0, 1), labels.flatten(), ignore_index=-100, label_smoothing=self.smoothing
        )
        return (loss, outputs) if return_outputs else loss
