import json

from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

from oldnames import recorded


@recorded
class Arguments(TrainingArguments):
    pass


def main(name="hf-internal-testing/tiny-random-bert"):
    rows = [{"input_ids": list(range(5, 13)), "labels": i % 2} for i in range(64)]
    args = Arguments("out", evaluation_strategy="epoch", num_train_epochs=2, report_to=[])
    trainer = Trainer(AutoModelForSequenceClassification.from_pretrained(name), args, train_dataset=rows, eval_dataset=rows)
    trainer.train()
    json.dump(args.asked_for, open("asked.json", "w"))


if __name__ == "__main__":
    main()
