from transformers import AutoModelForCausalLM, TrainingArguments

from base import WeightedTrainer


class LoggingTrainer(WeightedTrainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen = getattr(self, "seen", 0) + 1
        return super().compute_loss(model, inputs, return_outputs)


def main(name, dataset):
    args = TrainingArguments("out", gradient_accumulation_steps=4, report_to=[])
    LoggingTrainer(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=dataset).train()
