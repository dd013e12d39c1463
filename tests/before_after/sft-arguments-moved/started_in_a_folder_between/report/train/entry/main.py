"""Started as `cd train && python -m entry.main`."""

import trl
from src.trainer import Patient


def main(model, data, tokenizer):
    args = trl.DPOConfig("out")
    Patient(model=model, args=args, train_dataset=data, beta=0.2, processing_class=tokenizer).train()
