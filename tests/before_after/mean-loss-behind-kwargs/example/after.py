# fixer: unsafe target=transformers==5.23.0
import torch
from transformers import Trainer, TrainingArguments


class Regression(torch.nn.Module):
    accepts_loss_kwargs = False
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, features, labels=None, **kwargs):
        predicted = self.linear(features)
        return {"loss": torch.nn.functional.mse_loss(predicted, labels), "logits": predicted}


def main(dataset, folder):
    args = TrainingArguments(
        folder, max_steps=2, gradient_accumulation_steps=4, per_device_train_batch_size=2, optim="sgd",
        learning_rate=0.1, report_to=[], save_strategy="no", use_cpu=True, logging_steps=1, max_grad_norm=1e9,
        lr_scheduler_type="constant", remove_unused_columns=False,
    )
    trainer = Trainer(model=Regression(), args=args, train_dataset=dataset)
    trainer.train()
    return trainer
