from transformers import AutoTokenizer, DataCollatorForLanguageModeling, DataCollatorForSeq2Seq


def masked(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForLanguageModeling(tokenizer, mlm=True), DataCollatorForLanguageModeling(tokenizer)


def labels_of_their_own(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    return DataCollatorForSeq2Seq(tokenizer)


def unknown_token(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.unk_token
    return DataCollatorForLanguageModeling(tokenizer, mlm=False)


def two(name):
    generating = AutoTokenizer.from_pretrained(name, padding_side="left")
    generating.pad_token = generating.eos_token
    training = AutoTokenizer.from_pretrained(name)
    return DataCollatorForLanguageModeling(training, mlm=False), generating
