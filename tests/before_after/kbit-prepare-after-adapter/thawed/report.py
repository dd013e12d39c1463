from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training


def main(model):
    adapted = get_peft_model(model, LoraConfig())
    prepared = prepare_model_for_kbit_training(adapted)
    for name, p in prepared.named_parameters():
        p.requires_grad = "lora_" in name
    return prepared
