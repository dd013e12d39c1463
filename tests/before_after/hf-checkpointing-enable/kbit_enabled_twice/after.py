# fixer: unsafe
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM


def build(name, kind, checkpointing):
    if kind == "qlora":
        base = AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
        base = prepare_model_for_kbit_training(base, use_gradient_checkpointing=checkpointing, gradient_checkpointing_kwargs={"use_reentrant": False})
        if checkpointing:
            base.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model = get_peft_model(base, LoraConfig(r=8))
    elif kind == "lora":
        base = AutoModelForCausalLM.from_pretrained(name)
        base.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        model = get_peft_model(base, LoraConfig(r=8))
    else:
        model = AutoModelForCausalLM.from_pretrained(name)
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model
