from base_trainer import BaseTrainer


class CountingTrainer(BaseTrainer):
    tokens = 0

    def compute_loss(self, model, inputs, return_outputs=False):
        self.tokens += int(inputs["attention_mask"].sum())
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
        return (loss, outputs) if return_outputs else loss
