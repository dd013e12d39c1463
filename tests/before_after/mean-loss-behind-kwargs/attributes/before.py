# fixer: unsafe target=transformers==5.23.0
from torch import nn
from transformers import Trainer, TrainingArguments
from transformers.modeling_outputs import SequenceClassifierOutput


class Classifier(nn.Module):
    """A head over features."""

    classes = 3

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, self.classes)

    def forward(self, features, labels=None, **_):
        logits = self.linear(features)
        loss = nn.functional.cross_entropy(logits, labels) if labels is not None else None
        return SequenceClassifierOutput(loss=loss, logits=logits)


def build():
    return Classifier()


def main(dataset, steps=8):
    args = TrainingArguments("out", gradient_accumulation_steps=steps)
    Trainer(build(), args, train_dataset=dataset).train()


main([], 4)
