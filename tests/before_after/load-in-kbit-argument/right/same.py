from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig


def load(folder, secret):
    config = BitsAndBytesConfig(load_in_4bit=True)
    tokenizer = AutoTokenizer.from_pretrained(folder, token=secret)
    return tokenizer, AutoModelForCausalLM.from_pretrained(folder, quantization_config=config, token=secret)
