import bootstrap
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer


def main():
    model, tokenizer = bootstrap.load("unsloth/Qwen2.5-0.5B-bnb-4bit", 2048)
    data = load_dataset("yahma/alpaca-cleaned", split="train[:1000]")
    data = data.map(lambda row: {"text": row["instruction"] + "\n" + row["output"] + tokenizer.eos_token})
    args = SFTConfig(
        output_dir="out",
        max_seq_length=2048,
        dataset_text_field="text",
        per_device_train_batch_size=2,
        gradient_accumulation_steps=4,
        max_steps=60,
        report_to="none",
    )
    SFTTrainer(model=model, args=args, train_dataset=data, processing_class=tokenizer).train()


if __name__ == "__main__":
    main()
