from transformers import AutoModelForTokenClassification, TrainingArguments

from common.trainer import SmoothedTrainer


class LoggingTrainer(SmoothedTrainer):
    def compute_loss(self, model, inputs, return_outputs=False):
        size = inputs["input_ids"].shape[-1]
        loss, outputs = super().compute_loss(model, inputs, return_outputs=True)
        if self.state.global_step % 100 == 0:
            self.log({"sequence_length": size})
        return (loss, outputs) if return_outputs else loss


def main(dataset):
    model = AutoModelForTokenClassification.from_pretrained("bert-base-cased", num_labels=9)
    args = TrainingArguments("out", gradient_accumulation_steps=4, per_device_train_batch_size=4)
    LoggingTrainer(model=model, args=args, train_dataset=dataset).train()
