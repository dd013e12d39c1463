import yaml
from transformers import AutoModel


def main(file):
    with open(file) as opened:
        read = yaml.safe_load(opened)
    return AutoModel.from_pretrained("folder"), read["evaluation_strategy"]
