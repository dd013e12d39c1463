from pytorch_lightning import Trainer


class Rehearsal:
    def __init__(self, precision):
        self.precision = precision


def build(Trainer=Rehearsal):
    return Trainer(precision="fp16")
