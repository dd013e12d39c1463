# fixer: target=trl==1.16.0,transformers==5.23.0 unsafe
import trl
import trl.experimental.orpo


class Trainer(trl.experimental.orpo.ORPOTrainer):
    def __init__(self, **options):
        super(Trainer, self).__init__(**options)


class Other(trl.experimental.orpo.ORPOTrainer):
    pass


def train(model, tokenizer):
    arguments = trl.experimental.orpo.ORPOConfig("out", evaluation_strategy="steps")
    return Other(model=model, processing_class=tokenizer, args=arguments)
