from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


class Uncounted(Trainer):
    def get_batch_samples(self, epoch_iterator, num_batches, device):
        batches, _ = super().get_batch_samples(epoch_iterator, num_batches, device)
        return batches, None

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        inputs = {k: v for k, v in inputs.items() if k != "source"}
        return super().compute_loss(model, inputs, return_outputs=return_outputs)


def main(dataset):
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    args = TrainingArguments("out", gradient_accumulation_steps=8, max_steps=100, report_to=[])
    Uncounted(model=model, args=args, train_dataset=dataset).train()
