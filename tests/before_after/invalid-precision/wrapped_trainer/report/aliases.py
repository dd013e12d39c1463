from functools import wraps

import lightning.pytorch as pl


def tolerant(init):
    @wraps(init)
    def call(self, *args, **kwargs):
        precision = kwargs.get("precision")
        if isinstance(precision, str):
            kwargs["precision"] = precision.replace("_", "-")
        return init(self, *args, **kwargs)

    return call


def install(classes=(pl.Trainer,)):
    for cls in classes:
        setattr(cls, "__init__", tolerant(cls.__init__))
