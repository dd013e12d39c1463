from peft import get_peft_model
from somewhere import *


def shadow(model, tokenizer, LoraConfig):  # shadow: a parameter of that name
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=8))


def star(model, tokenizer):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=8))  # star: nobody knows what the import brings


def splat(model, tokenizer, *args):
    from peft import LoraConfig as Config

    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, *args), Config(r=8)  # splat: nobody knows which configuration


def keyword(model, tokenizer, **options):
    from peft import LoraConfig as Config

    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, Config(**options))  # keyword: it may name embeddings


def from_a_variable(model, tokenizer, targets):
    from peft import LoraConfig as Config

    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, Config(target_modules=targets))
