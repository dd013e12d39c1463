# fixer: target=transformers==5.23.0
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Handing(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)


class Passing(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        return super().compute_loss(model, inputs, return_outputs, **kwargs)


class Summing(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits, inputs["labels"], reduction="sum")
        return loss / num_items_in_batch


class Declared(Trainer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model_accepts_loss_kwargs = False

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return model(**inputs).loss


class Scaled(Trainer):
    loss_is_scaled_for_ga = False

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        return model(**inputs).loss


def main(name, dataset):
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    for kind in (Handing, Passing, Summing, Declared, Scaled):
        kind(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=dataset).train()
