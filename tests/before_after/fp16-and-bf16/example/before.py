# fixer: unsafe
import torch
from transformers import Trainer, TrainingArguments


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, features, labels):
        predicted = self.linear(features)
        return {"loss": torch.nn.functional.mse_loss(predicted, labels.to(predicted.dtype)), "logits": predicted}


def main(dataset, model, folder="out", **where):
    args = TrainingArguments(
        output_dir=folder,
        per_device_train_batch_size=4,
        learning_rate=0.1,
        num_train_epochs=2,
        fp16=True,  # copied from the V100 days
        bf16=True,
        report_to=[],
        save_strategy="no",
        **where,
    )
    return Trainer(model=model, args=args, train_dataset=dataset).train()
