# fixer: unsafe
from transformers import AutoModelForCausalLM, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("base", attn_implementation="flex_attention")
args = TrainingArguments("out", gradient_checkpointing=True)


def adapted(model):
    from peft import LoraConfig, get_peft_model

    return get_peft_model(model, LoraConfig(target_modules="all-linear"))
