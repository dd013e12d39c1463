# fixer: upgrade=trl@1.16.0,transformers@5.23.0
from transformers import TrainingArguments
from trl import GRPOConfig, SFTConfig


def configurations(folder):
    logged = TrainingArguments(folder, learning_rate=1e-4)
    told = TrainingArguments(folder, report_to="wandb", average_tokens_across_devices=True)
    rewarded = GRPOConfig(output_dir=folder, learning_rate=1e-6, max_completion_length=256, beta=0.04)
    tuned = SFTConfig(output_dir=folder, learning_rate=5e-5, packing_strategy="ffd", bf16=True, report_to="none")
    return logged, told, rewarded, tuned
