import modeling  # noqa: F401
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Counting(Trainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen += 1
        return super().compute_loss(model, inputs, return_outputs)


def main(folder, rows):
    model = AutoModelForCausalLM.from_pretrained(folder)
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    Counting(model=model, args=args, train_dataset=rows).train()
