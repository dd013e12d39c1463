from somewhere import *


def shadow(name, tokenizer, DataCollatorForLanguageModeling):  # shadow: a parameter of that name
    tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)


def star(tokenizer):
    tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)  # star: nobody knows what the import brings


def splat(tokenizer, *args):
    from transformers import DataCollatorForLanguageModeling as Collator

    tokenizer.pad_token = tokenizer.eos_token
    return Collator(*args)  # splat: nobody knows what is given


def keyword(tokenizer, **options):
    from transformers import DataCollatorForLanguageModeling as Collator

    tokenizer.pad_token = tokenizer.eos_token
    return Collator(tokenizer, **options)  # keyword: nobody knows whether it masks
