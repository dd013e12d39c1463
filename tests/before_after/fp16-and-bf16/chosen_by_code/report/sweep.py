import yaml
from transformers import TrainingArguments

FLAGS = ("fp16", "bf16")


def cases(path="sweep.yaml"):
    """One run for each precision that is ticked."""
    with open(path) as f:
        rest = yaml.safe_load(f)
    ticked = [flag for flag in FLAGS if rest.pop(flag, False)]
    for flag in ticked:
        yield {**rest, flag: True}


def main(train):
    for case in cases():
        train(TrainingArguments(**case))
