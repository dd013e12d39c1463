from peft import LoraConfig, PeftModel, get_peft_model
from trl import SFTTrainer


def saved(model, tokenizer):
    tokenizer.add_tokens(["<think>", "</think>"])
    model.resize_token_embeddings(len(tokenizer))
    config = LoraConfig(target_modules=["q_proj"], modules_to_save=["embed_tokens", "lm_head"])
    return get_peft_model(model, config)


def indices(model, tokenizer):
    tokenizer.add_special_tokens({"additional_special_tokens": ["<think>"]})
    model.resize_token_embeddings(len(tokenizer))
    new = tokenizer.convert_tokens_to_ids(["<think>"])
    return get_peft_model(model, LoraConfig(target_modules="all-linear", trainable_token_indices=new))


def targets(model, tokenizer):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(target_modules=["q_proj", "embed_tokens", "lm_head"]))


def pattern(model, tokenizer):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(target_modules=r".*(q_proj|embed_tokens)"))


def padding(model, tokenizer):
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=8))


def padding_by_add_tokens(model, tokenizer):
    tokenizer.add_tokens(["<pad>"], special_tokens=True)
    tokenizer.pad_token = "<pad>"
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=8))


def placeholder(model, tokenizer):
    tokenizer.add_tokens(["<image>"], special_tokens=True)
    model.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=8))


def no_tokens(model, tokenizer):
    model.resize_token_embeddings(len(tokenizer), pad_to_multiple_of=64)
    return get_peft_model(model, LoraConfig(r=8))


def fully(model, tokenizer, args, data):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    SFTTrainer(model, args=args, train_dataset=data).train()
    return get_peft_model(model, LoraConfig(r=8))


def either(model, tokenizer, full):
    if full:
        tokenizer.add_tokens(["<think>"])
        model.resize_token_embeddings(len(tokenizer))
    if not full:
        model = get_peft_model(model, LoraConfig(r=8))
    return model


def inference(model, tokenizer, path):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    return PeftModel.from_pretrained(model, path)


def another(model, reward, tokenizer):
    tokenizer.add_tokens(["<think>"])
    reward.resize_token_embeddings(len(tokenizer))
    return get_peft_model(model, LoraConfig(r=8))


def with_embeddings(model, tokenizer, embeddings):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    targets = ["q_proj", "v_proj"]
    if embeddings:
        targets.append("embed_tokens")
    return get_peft_model(model, LoraConfig(target_modules=targets))
