import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer

from arguments import TrainingArguments


class Toy(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        return {"input_ids": torch.arange(8) % 30, "labels": torch.tensor(i % 2)}


def main():
    config = BertConfig(vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    args = TrainingArguments(
        output_dir="out", no_cuda=True, evaluation_strategy="no", max_steps=2, report_to=[], save_strategy="no"
    )
    trainer = Trainer(BertForSequenceClassification(config), args, train_dataset=Toy())
    trainer.train()
    print("evaluated:", trainer.args.evaluation_strategy, "cpu:", trainer.args.no_cuda)


if __name__ == "__main__":
    main()
