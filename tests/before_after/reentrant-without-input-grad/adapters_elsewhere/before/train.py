from peft import LoraConfig, get_peft_model

from modeling import MyDecoder


def build(name):
    return get_peft_model(MyDecoder.from_pretrained(name), LoraConfig(r=8))
