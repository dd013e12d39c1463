import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Counting(Trainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen += inputs["input_ids"].numel()
        return super().compute_loss(model, inputs, return_outputs)


def build(name, dataset):
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
    args = TrainingArguments("out", gradient_accumulation_steps=4, max_steps=100, report_to=[])
    return Counting(model=model, args=args, train_dataset=dataset)
