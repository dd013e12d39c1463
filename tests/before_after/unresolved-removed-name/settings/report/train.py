import lightning
import transformers
import yaml


def main(file):
    with open(file) as opened:
        return lightning.Trainer(**yaml.safe_load(opened)["trainer"]), transformers.TrainingArguments
