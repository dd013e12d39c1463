from transformers import AutoModelForCausalLM, AutoTokenizer, TrainingArguments

from trainer import SamplingTrainer


def main(dataset, name="sshleifer/tiny-gpt2", folder="out"):
    args = TrainingArguments(folder, logging_steps=100, report_to=[])
    trainer = SamplingTrainer(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=dataset)
    trainer.with_tokenizer(AutoTokenizer.from_pretrained(name)).train()
