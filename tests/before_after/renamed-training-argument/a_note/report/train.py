import torch
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from model import Toy, place


def main():
    config = BertConfig(vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    model = BertForSequenceClassification(config)
    training_args = TrainingArguments("out", max_steps=2, report_to=[], save_strategy="no")
    # a note for our own code below; the Trainer knows nothing of it
    training_args.no_cuda = not torch.cuda.is_available()
    teacher = place(BertForSequenceClassification(config), training_args)
    trainer = Trainer(model, training_args, train_dataset=Toy())
    trainer.train()
    return teacher


if __name__ == "__main__":
    main()
