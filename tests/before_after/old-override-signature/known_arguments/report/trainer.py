from transformers import Trainer

from compat import known_arguments


class DistillationTrainer(Trainer):
    def __init__(self, *args, teacher=None, alpha=0.5, **kwargs):
        super().__init__(*args, **kwargs)
        self.teacher = teacher.eval().requires_grad_(False)
        self.alpha = alpha
        self.model_accepts_loss_kwargs = False

    @known_arguments
    def compute_loss(self, model, inputs, return_outputs=False):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
        target = self.teacher(**inputs).logits.softmax(dim=-1)
        distance = -(target * outputs.logits.log_softmax(dim=-1)).sum(dim=-1).mean()
        loss = (1 - self.alpha) * loss + self.alpha * distance
        return (loss, outputs) if return_outputs else loss
