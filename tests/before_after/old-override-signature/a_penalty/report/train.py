from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from penalty import Sparse


class SparseTrainer(Sparse, Trainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
        loss = self.with_penalty(model, loss)
        return (loss, outputs) if return_outputs else loss


def main(dataset, folder):
    args = TrainingArguments(
        "out",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=8,
        max_steps=100,
        report_to=[],
    )
    model = AutoModelForCausalLM.from_pretrained(folder)
    SparseTrainer(model=model, args=args, train_dataset=dataset).train()
