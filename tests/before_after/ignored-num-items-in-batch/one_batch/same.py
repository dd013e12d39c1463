# fixer: target=transformers==5.23.0
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Counting(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return super().compute_loss(model, inputs, return_outputs)


def main(name, dataset):
    model = AutoModelForCausalLM.from_pretrained(name)
    Counting(model, TrainingArguments("out", learning_rate=1e-4), train_dataset=dataset).train()
