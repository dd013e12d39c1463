from base import MeanTrainer
from transformers import AutoModelForCausalLM, TrainingArguments


class Counting(MeanTrainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen += len(inputs["input_ids"])
        return super().compute_loss(model, inputs, return_outputs)


def main(name, dataset):
    args = TrainingArguments("out", gradient_accumulation_steps=4, max_steps=10, report_to=[])
    model = AutoModelForCausalLM.from_pretrained(name)
    Counting(model=model, args=args, train_dataset=dataset).train()
