from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

from scaling import OverRounds


class ByBatch(OverRounds, Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        result = super().compute_loss(model, inputs, return_outputs)
        result = self.over_rounds(result)
        return result


def main(name="sshleifer/tiny-gpt2"):
    rows = [{"input_ids": list(range(8)), "labels": list(range(8))} for _ in range(64)]
    args = TrainingArguments("out", per_device_train_batch_size=2, gradient_accumulation_steps=4, max_steps=5, report_to=[])
    ByBatch(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=rows).train()


if __name__ == "__main__":
    main()
