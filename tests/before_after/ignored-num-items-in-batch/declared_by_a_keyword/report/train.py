import sys

from datasets import load_from_disk
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from wiring import plain_losses


class Counting(Trainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen += inputs["input_ids"].numel()
        return super().compute_loss(model, inputs, return_outputs)


def main(name, data):
    args = TrainingArguments("out", gradient_accumulation_steps=4, max_steps=100, report_to=[])
    trainer = Counting(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=load_from_disk(data))
    plain_losses(trainer).train()


if __name__ == "__main__":
    main(*sys.argv[1:])
