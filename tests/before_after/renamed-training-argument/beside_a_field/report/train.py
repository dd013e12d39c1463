import sys

import torch
from datasets import load_from_disk
from transformers import AutoModelForCausalLM, HfArgumentParser, Trainer, TrainingArguments

from schedule import ScheduleArguments


def main():
    parser = HfArgumentParser((ScheduleArguments, TrainingArguments))
    schedule, training = parser.parse_json_file(sys.argv[1])
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    optimizer = torch.optim.AdamW(model.parameters(), lr=schedule.peak)
    scheduler = schedule.build(optimizer, training.max_steps)
    trainer = Trainer(
        model=model, args=training, train_dataset=load_from_disk("tokens"), optimizers=(optimizer, scheduler)
    )
    trainer.train()


if __name__ == "__main__":
    main()
