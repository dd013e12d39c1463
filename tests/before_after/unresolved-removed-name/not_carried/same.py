from transformers import Trainer


def main(make):
    return make(evaluation_strategy="steps"), Trainer
