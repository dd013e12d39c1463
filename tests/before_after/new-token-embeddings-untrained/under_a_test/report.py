from peft import LoraConfig, get_peft_model


def main(model, tokenizer, mode):
    if mode == "tokens":
        tokenizer.add_tokens(["<think>"])
        model.resize_token_embeddings(len(tokenizer))
    if mode == "adapter":
        model = get_peft_model(model, LoraConfig(r=16))
    return model
