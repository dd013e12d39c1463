# fixer: upgrade=transformers@5.23.0
from transformers import AutoTokenizer


def encode(tokenizer, chat):
    return tokenizer.apply_chat_template(chat).index(2)


def write(chat, folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    text = tokenizer.apply_chat_template(chat, tokenize=False)
    return text, tokenizer.apply_chat_template(chat, tokenize=True)
