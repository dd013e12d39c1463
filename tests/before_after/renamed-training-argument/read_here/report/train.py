import yaml
from transformers import TrainingArguments


def main(file, make):
    with open(file) as opened:
        read = yaml.safe_load(opened)
    if read["adafactor"]:
        return make(read)
    return TrainingArguments(**read)
