from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTTrainer


def main(name, quantization):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name, quantization_config=quantization)
    tokenizer.add_tokens(["<think>", "</think>"])
    model.resize_token_embeddings(len(tokenizer))
    model = prepare_model_for_kbit_training(model)
    config = LoraConfig(r=16, target_modules=["q_proj", "v_proj"], modules_to_save=None)
    return get_peft_model(model, config)


def by_the_trainer(model, tokenizer, args, data):
    tokenizer.add_special_tokens({"pad_token": "[PAD]", "additional_special_tokens": ["<|user|>", "<|assistant|>"]})
    if len(tokenizer) > model.config.vocab_size:
        model.resize_token_embeddings(len(tokenizer))
    config = LoraConfig(task_type="CAUSAL_LM", target_modules="all-linear")
    SFTTrainer(model, args=args, train_dataset=data, peft_config=config).train()


def by_a_list(model, tokenizer):
    tokenizer.add_tokens(["<think>"])
    model.resize_token_embeddings(len(tokenizer))
    layers = ["self_attn.q_proj", "self_attn.v_proj"]
    return get_peft_model(model, LoraConfig(target_modules=layers))
