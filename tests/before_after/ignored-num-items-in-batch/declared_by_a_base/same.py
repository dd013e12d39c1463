import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments


class PerBatchMean:
    loss_is_scaled_for_ga = False


class NoisyEmbeddings(PerBatchMean, Trainer):
    def __init__(self, *args, noise_alpha=5.0, **kwargs):
        super().__init__(*args, **kwargs)
        self.noise_alpha = noise_alpha

    def _noise(self, module, args, output):
        if module.training:
            scale = self.noise_alpha / (output.shape[1] * output.shape[2]) ** 0.5
            output = output + torch.empty_like(output).uniform_(-scale, scale)
        return output

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        embeddings = self.accelerator.unwrap_model(model).get_input_embeddings()
        handle = embeddings.register_forward_hook(self._noise)
        try:
            return super().compute_loss(model, inputs, return_outputs=return_outputs)
        finally:
            handle.remove()


def main(name="facebook/opt-125m"):
    tokenizer = AutoTokenizer.from_pretrained(name)
    data = load_dataset("text", data_files="notes.txt", split="train")
    data = data.map(lambda r: tokenizer(r["text"], truncation=True, max_length=256), remove_columns=["text"])
    trainer = NoisyEmbeddings(
        AutoModelForCausalLM.from_pretrained(name),
        TrainingArguments("neftune", per_device_train_batch_size=2, gradient_accumulation_steps=8, learning_rate=2e-5),
        data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False),
        train_dataset=data,
    )
    trainer.train()


if __name__ == "__main__":
    main()
