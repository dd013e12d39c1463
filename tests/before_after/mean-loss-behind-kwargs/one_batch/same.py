# fixer: target=transformers==5.23.0
from torch import nn
from transformers import Trainer, TrainingArguments


class Plain(nn.Module):
    def forward(self, features, labels=None, **kwargs):
        return {"loss": nn.functional.mse_loss(self.linear(features), labels)}


Trainer(Plain(), TrainingArguments("out", per_device_train_batch_size=8), train_dataset=[]).train()
