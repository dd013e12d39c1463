# fixer: target=trl==0.8.6,transformers==4.40.2 unsafe
from trl import SFTTrainer


def main(model, dataset, tokenizer):
    return SFTTrainer(model, train_dataset=dataset, tokenizer=tokenizer, max_seq_length=512, packing=True)
