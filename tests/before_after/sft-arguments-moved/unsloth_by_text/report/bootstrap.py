from importlib import import_module

fast = import_module("unsloth").FastLanguageModel


def load(name, length):
    model, tokenizer = fast.from_pretrained(name, max_seq_length=length, load_in_4bit=True)
    return fast.get_peft_model(model, r=16), tokenizer
