from mixins import MeanOfBatches
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class EqualBatches(MeanOfBatches, Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        if return_outputs:
            loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
            return self.per_step(loss), outputs
        loss = super().compute_loss(model, inputs)
        return self.per_step(loss)


def main(name, rows):
    model = AutoModelForCausalLM.from_pretrained(name, dtype="float32")
    args = TrainingArguments("out", gradient_accumulation_steps=8)
    EqualBatches(model=model, args=args, train_dataset=rows).train()
