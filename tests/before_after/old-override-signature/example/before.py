# fixer: target=transformers==5.23.0
import torch
from transformers import Trainer, TrainingArguments


class Regression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, features, labels):
        predicted = self.linear(features)
        return {"loss": torch.nn.functional.mse_loss(predicted, labels), "logits": predicted}


class Counting(Trainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False):
        self.seen += 1
        return super().compute_loss(model, inputs, return_outputs=return_outputs)


def main(dataset, model, folder="out"):
    args = TrainingArguments(folder, max_steps=3, learning_rate=0.1, report_to=[], save_strategy="no", use_cpu=True)
    return Counting(model=model, args=args, train_dataset=dataset).train()
