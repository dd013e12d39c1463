import functools


def recorded(cls):
    """Class decorator: keeps what the run asked for, under the names of our result tables."""
    init = cls.__init__

    @functools.wraps(init)
    def __init__(self, *args, evaluation_strategy="no", **kwargs):
        init(self, *args, eval_strategy=evaluation_strategy, **kwargs)
        self.asked_for = {"evaluation_strategy": evaluation_strategy, **{k: str(v) for k, v in kwargs.items()}}

    cls.__init__ = __init__
    return cls
