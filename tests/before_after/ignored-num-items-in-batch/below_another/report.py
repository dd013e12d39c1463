# fixer: target=transformers==5.23.0
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Plain(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        return super().compute_loss(model, inputs, return_outputs, **kwargs)


class Counting(Plain):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return super().compute_loss(model, inputs, return_outputs)


def main(name, dataset):
    model = AutoModelForCausalLM.from_pretrained(name)
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    Counting(model, args, train_dataset=dataset).train()
