from peft import LoraConfig, get_peft_model


def main(model, tokenizer):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    config = LoraConfig(r=16)
    config.modules_to_save = ["embed_tokens"]
    model = get_peft_model(model, config)
    model.get_input_embeddings().weight.requires_grad = True
    return model(inputs_embeds=model.vectors)
