from tokens import load
from transformers import DataCollatorForLanguageModeling


def collator(name):
    tokenizer = load(name)
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)
