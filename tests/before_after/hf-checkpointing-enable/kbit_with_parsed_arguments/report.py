# fixer: unsafe
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import HfArgumentParser, TrainingArguments

(training_args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()


def add_adapters(model):
    model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=training_args.gradient_checkpointing)
    return get_peft_model(model, LoraConfig(r=8))


def load(name):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(name, load_in_4bit=True)
