# fixer: target=transformers==5.23.0
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Penalized(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = super().compute_loss(model, inputs)
        loss = loss + 0.1 * model.penalty()
        return loss


def main(name, dataset):
    model = AutoModelForCausalLM.from_pretrained(name)
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    Penalized(model, args, train_dataset=dataset).train()
