import argparse
import os

from datasets import load_from_disk
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
options = parser.parse_args()

data = load_from_disk(os.environ["SM_CHANNEL_TRAIN"])
args = TrainingArguments(
    output_dir=os.environ["SM_MODEL_DIR"],
    evaluation_strategy="epoch",
    num_train_epochs=options.epochs,
    overwrite_output_dir=True,
    fp16=True,
)
model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)
Trainer(model=model, args=args, train_dataset=data["train"], eval_dataset=data["test"]).train()
