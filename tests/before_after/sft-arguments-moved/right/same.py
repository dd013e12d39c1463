from trl import SFTConfig, SFTTrainer


def main(model, dataset, tokenizer):
    args = SFTConfig("out", max_length=512, packing=True, dataset_text_field="text")
    return SFTTrainer(model=model, args=args, train_dataset=dataset, processing_class=tokenizer)
