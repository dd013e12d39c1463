from transformers import Trainer


class Own(Trainer):
    def __init__(self, model, tokenizer):
        super().__init__(model=model, processing_class=tokenizer)


def main(model, words):
    return Own(model=model, tokenizer=words)
