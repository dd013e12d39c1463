# fixer: target=trl==1.16.0,transformers==5.23.0 unsafe
import trl


class Trainer(trl.ORPOTrainer):
    def __init__(self, **options):
        super(Trainer, self).__init__(**options)


class Other(trl.ORPOTrainer):
    pass


def train(model, tokenizer):
    arguments = trl.ORPOConfig("out", evaluation_strategy="steps")
    return Other(model=model, tokenizer=tokenizer, args=arguments)
