# fixer: target=transformers==5.23.0
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        loss = torch.nn.functional.cross_entropy(outputs.logits.flatten(0, 1), labels.flatten())
        return (loss, outputs) if return_outputs else loss


def main(name, dataset):
    model = AutoModelForCausalLM.from_pretrained(name)
    args = TrainingArguments("out", gradient_accumulation_steps=4)
    trainer = Weighted(model=model, args=args, train_dataset=dataset)
    trainer.model_accepts_loss_kwargs = False
    trainer.train()
