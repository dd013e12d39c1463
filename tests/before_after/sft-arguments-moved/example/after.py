# fixer: target=trl==1.16.0,transformers==5.23.0 unsafe
from transformers import PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer


def main(dataset, model, tokenizer: PreTrainedTokenizerFast, folder="out"):
    args = SFTConfig(
        output_dir=folder,
        max_length=16,  # tokens
        max_steps=2,
        learning_rate=0.1,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
    )
    return SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer).train()
