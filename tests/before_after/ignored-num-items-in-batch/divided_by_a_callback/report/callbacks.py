from transformers import TrainerCallback


class Average(TrainerCallback):
    """Accumulated gradients are sums; the step wants their mean."""

    def on_pre_optimizer_step(self, args, state, control, model=None, **kwargs):
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.div_(args.gradient_accumulation_steps)
