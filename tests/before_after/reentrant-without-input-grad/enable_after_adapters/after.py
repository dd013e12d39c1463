# fixer: unsafe
import peft


def prepare(model, config):
    model = peft.get_peft_model(model, config)
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=dict(use_reentrant=False))
    return model
