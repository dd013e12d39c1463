from transformers import HfArgumentParser, Trainer as Base
from transformers import TrainingArguments
from transformers.trainer_utils import HPSearchBackend, PREFIX_CHECKPOINT_DIR


class Trainer:
    def __init__(self, args: TrainingArguments = None):
        if args is None:
            args = TrainingArguments("out")
        self.args = args

    def train(self, backend):
        if self.args.evaluate_during_training or backend == HPSearchBackend.SIGOPT:
            print(PREFIX_CHECKPOINT_DIR)


class Scaled(Base):
    def clip(self):
        return self.use_amp
