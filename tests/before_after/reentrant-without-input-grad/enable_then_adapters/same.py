from peft import LoraConfig, get_peft_model


def prepare(model):
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": True})
    model = get_peft_model(model, LoraConfig(r=8))
    return model
