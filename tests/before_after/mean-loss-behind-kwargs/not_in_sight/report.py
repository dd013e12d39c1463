# fixer: target=transformers==5.23.0
from torch import nn
from transformers import HfArgumentParser, Trainer, TrainingArguments


class Classifier(nn.Module):
    def forward(self, features, labels=None, **kwargs):
        logits = self.linear(features)
        loss = nn.functional.cross_entropy(logits, labels)
        return loss, logits


def main(dataset):
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    Trainer(Classifier(), args, train_dataset=dataset).train()
