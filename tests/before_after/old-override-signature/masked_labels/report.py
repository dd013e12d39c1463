import torch
from transformers import Trainer


class SparseLabels(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        labels = inputs["labels"]
        inputs = {**inputs, "labels": labels.masked_fill(torch.rand(labels.shape) > 0.25, -100)}
        return super().compute_loss(model, inputs, return_outputs=return_outputs)
