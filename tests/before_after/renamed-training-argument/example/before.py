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


def main(dataset, model, folder="out"):
    args = TrainingArguments(
        output_dir=folder,
        evaluation_strategy="no",  # nothing is held out
        no_cuda=True,
        max_steps=3,
        learning_rate=0.1,
        report_to=[],
        save_strategy="no",
        overwrite_output_dir=True,
    )
    return Trainer(model=model, args=args, train_dataset=dataset).train()
