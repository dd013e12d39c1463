import logging

from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from batching import MeanOfBatches

log = logging.getLogger(__name__)


class Reporting(MeanOfBatches, Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        log.debug("batch of %s", tuple(inputs["input_ids"].shape))
        return super().compute_loss(model, inputs, return_outputs)


def main(name, dataset, folder="out"):
    args = TrainingArguments(folder, gradient_accumulation_steps=4, report_to=[])
    Reporting(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=dataset).train()
