import argparse
from dataclasses import dataclass

import transformers
import yaml


@dataclass
class Settings:
    evaluation_strategy: str = "no"


def cut(words, max_seq_length):
    return words[:max_seq_length]


def main(file, model):
    parser = argparse.ArgumentParser()
    parser.add_argument("--overwrite_output_dir", action="store_true")
    options = parser.parse_args()
    settings = Settings(evaluation_strategy="steps")
    read = {"group_by_length": True}
    if options.overwrite_output_dir and read["group_by_length"]:
        cut([], max_seq_length=3)
    with open(file) as opened:
        more = yaml.safe_load(opened)
    settings.evaluation_strategy = more["evaluation_strategy"]
    return transformers.set_seed(more["max_prompt_length"])
