from transformers import AutoModelForCausalLM, TrainingArguments


def make(folder):
    model = AutoModelForCausalLM.from_pretrained(folder)
    model.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
    return model, TrainingArguments("out", activation_checkpointing=True)
