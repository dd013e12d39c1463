from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

from arguments import Arguments

COLUMN = {"never": 0, "often": 1, "rarely": 2}


def row(training_args: TrainingArguments):
    return [training_args.learning_rate, COLUMN[training_args.evaluation_strategy]]


def main(training_args: Arguments):
    rows = [{"input_ids": list(range(5, 13)), "labels": i % 2} for i in range(64)]
    model = AutoModelForSequenceClassification.from_pretrained("hf-internal-testing/tiny-random-bert")
    Trainer(model, training_args, train_dataset=rows, eval_dataset=rows).train()
    with open(training_args.table, "a") as table:
        print(*row(training_args), sep=",", file=table)
