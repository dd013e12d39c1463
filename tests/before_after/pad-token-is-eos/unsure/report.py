from transformers import AutoTokenizer, DataCollatorForLanguageModeling


def tested(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForLanguageModeling(tokenizer=tokenizer, mlm=False)


def told(name, masked):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token_id = tokenizer.eos_token_id
    return DataCollatorForLanguageModeling(tokenizer, mlm=masked)
