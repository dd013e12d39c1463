from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments


def main(name, dataset):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(name)
    tokens = dataset.map(lambda row: tokenizer(row["text"] + tokenizer.eos_token))
    collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
    trainer = Trainer(model, TrainingArguments("out"), train_dataset=tokens, data_collator=collator)
    trainer.train()
