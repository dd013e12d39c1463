# fixer: target=transformers==5.23.0
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Counting(Trainer):
    seen = 0

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        self.seen += 1
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch=num_items_in_batch)


def main(name, dataset, folder):
    model = AutoModelForCausalLM.from_pretrained(name)
    args = TrainingArguments(
        folder, max_steps=2, gradient_accumulation_steps=4, per_device_train_batch_size=2, optim="sgd", learning_rate=0.1,
        report_to=[], save_strategy="no", use_cpu=True, logging_steps=1, max_grad_norm=1e9, lr_scheduler_type="constant",
    )
    trainer = Counting(model, args, train_dataset=dataset)
    trainer.train()
    return trainer
