# fixer: target=transformers==5.23.0
import torch
from transformers import HfArgumentParser, Trainer, TrainingArguments


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits, labels)
        return (loss, outputs) if return_outputs else loss


def main(model, dataset):
    (args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
    Weighted(model=model, args=args, train_dataset=dataset).train()
