from peft import LoraConfig, get_peft_model


def main(model, tokenizer, tokens):
    tokenizer.add_tokens(tokens)
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=16))
