# fixer: unsafe target=transformers==5.23.0
import peft
from transformers import TrainingArguments


def build(model):
    model = peft.prepare_model_for_kbit_training(model, True, {"use_reentrant": False})
    model = peft.prepare_model_for_kbit_training(model, gradient_checkpointing_kwargs={"use_reentrant": False})
    return model, TrainingArguments(output_dir="out", gradient_checkpointing=True)


def load(name):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
