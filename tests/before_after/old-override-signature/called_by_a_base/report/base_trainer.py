import torch
from transformers import Trainer


class BaseTrainer(Trainer):
    """Own steps: every micro-batch counts alike, whatever the number of its tokens."""

    def training_step(self, model, inputs, num_items_in_batch=None):
        model.train()
        inputs = self._prepare_inputs(inputs)
        with self.compute_loss_context_manager():
            loss = self.compute_loss(model, inputs)
        loss = loss / self.current_gradient_accumulation_steps
        self.accelerator.backward(loss)
        return loss.detach()

    @torch.no_grad()
    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        return loss.detach(), None if prediction_loss_only else outputs.logits, inputs.get("labels")
