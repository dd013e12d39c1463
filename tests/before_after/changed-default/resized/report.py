# fixer: upgrade=transformers@5.23.0
from transformers import AutoModelForCausalLM


def grow(name, tokenizer):
    model = AutoModelForCausalLM.from_pretrained(name, dtype="auto")
    model.resize_token_embeddings(len(tokenizer))
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    return model


def fresh(config):
    return AutoModelForCausalLM.from_config(config)
