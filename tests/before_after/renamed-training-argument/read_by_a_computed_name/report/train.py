from pathlib import Path

import torch
from guard import may_write
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, i):
        return {"input_ids": torch.randint(5, 90, (12,)), "labels": i % 2}


def main():
    Path("out").mkdir(exist_ok=True)
    Path("out/notes.md").write_text("nightly run\n")
    args = may_write(
        TrainingArguments(
            output_dir="out",
            overwrite_output_dir=True,
            max_steps=4,
            report_to=[],
            use_cpu=True,
        )
    )
    config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
    Trainer(BertForSequenceClassification(config), args, train_dataset=Rows()).train()


if __name__ == "__main__":
    main()
