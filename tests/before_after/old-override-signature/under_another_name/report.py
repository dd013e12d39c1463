import sys

from datasets import load_from_disk
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments


class AnchoredTrainer(Trainer):
    """L2 pull towards the weights of the start."""

    def __init__(self, *args, strength=0.01, **kwargs):
        super().__init__(*args, **kwargs)
        self.strength = strength
        self.anchor = {name: p.detach().clone() for name, p in self.model.named_parameters() if "norm" in name}

    def compute_loss(self, model, inputs, return_outputs=False):
        result = super().compute_loss(model, inputs, return_outputs=return_outputs)
        loss = result[0] if return_outputs else result
        pull = sum((p - self.anchor[name]).pow(2).sum() for name, p in model.named_parameters() if name in self.anchor)
        loss = loss + self.strength * pull
        return (loss, result[1]) if return_outputs else loss


def main(name, data):
    tokenizer = AutoTokenizer.from_pretrained(name)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    args = TrainingArguments(
        "runs/anchor",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=16,
        learning_rate=1e-5,
        max_steps=500,
        report_to="none",
    )
    trainer = AnchoredTrainer(
        model=AutoModelForCausalLM.from_pretrained(name),
        args=args,
        train_dataset=load_from_disk(data),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
    )
    trainer.train()


if __name__ == "__main__":
    main(*sys.argv[1:3])
