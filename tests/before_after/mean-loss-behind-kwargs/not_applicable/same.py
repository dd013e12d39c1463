# fixer: target=transformers==5.23.0
from somewhere import *
from torch import nn
from transformers import TrainingArguments


class Model(nn.Module):
    def forward(self, features, labels=None, **kwargs):  # keyword: nobody reads them
        return {"loss": nn.functional.mse_loss(self.linear(features), labels)}


def shadow(dataset, Trainer):  # shadow: a parameter of that name
    Trainer(Model(), TrainingArguments("out", gradient_accumulation_steps=4), train_dataset=dataset).train()


def star(dataset):
    OwnTrainer(Model(), TrainingArguments("out", gradient_accumulation_steps=4)).train()  # star: nobody knows it


def splat(*args):
    from transformers import Trainer as Library

    Library(*args).train()  # splat: nobody knows the model
