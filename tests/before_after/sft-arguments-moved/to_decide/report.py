# fixer: target=trl==1.16.0 unsafe
from trl import DataCollatorForCompletionOnlyLM, SFTTrainer


def main(model, dataset, tokenizer):
    collator = DataCollatorForCompletionOnlyLM("### Answer:", tokenizer=tokenizer)
    return SFTTrainer(
        model=model,
        train_dataset=dataset,
        dataset_text_field="text",
        max_seq_length=512,
        packing=True,
        data_collator=collator,
    )
