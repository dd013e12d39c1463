from monitor import SkipBatch
from trainer import Trainer


def main(model, batches):
    trainer = Trainer(model)
    for x, y in batches:
        try:
            trainer.step(x, y)
        except SkipBatch:
            continue
    return trainer
