from callbacks import Average
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Counting(Trainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen += inputs["labels"].numel()
        return super().compute_loss(model, inputs, return_outputs)


def main(name, rows):
    args = TrainingArguments("out", max_steps=2, gradient_accumulation_steps=4, max_grad_norm=0.0, optim="sgd")
    Counting(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=rows, callbacks=[Average()]).train()
