# fixer: target=transformers==5.23.0
from somewhere import *
from transformers import Trainer as Base


class Trainer:  # shadow: a class of the project of that name
    pass


class Own(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return model(**inputs)


class Brought(FancyTrainer):  # star: nobody knows what the import brings
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        return model(**inputs)


class Open(Base):
    def compute_loss(self, *args, **kwargs):  # splat: hands on what comes
        return super().compute_loss(*args, **kwargs)


class Hidden(Base):
    def compute_loss(self, model, inputs, **options):  # keyword: the same
        return super().compute_loss(model, inputs, **options)
