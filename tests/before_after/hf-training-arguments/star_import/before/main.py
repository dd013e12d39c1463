from training import *

args = TrainingArguments("out", gradient_checkpointing=True)
Trainer(args=args).train()
