import legacy
from datasets import load_from_disk
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

legacy.install()


def main(name="distilbert-base-uncased"):
    arguments = TrainingArguments(
        output_dir="out",
        evaluation_strategy="steps",
        eval_steps=100,
        save_steps=100,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        num_train_epochs=3,
    )
    data = load_from_disk("reviews")
    trainer = Trainer(
        model=AutoModelForSequenceClassification.from_pretrained(name),
        args=arguments,
        train_dataset=data["train"],
        eval_dataset=data["test"],
    )
    trainer.train()


if __name__ == "__main__":
    main()
