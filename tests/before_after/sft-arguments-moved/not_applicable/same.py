# fixer: target=trl==1.16.0 unsafe
from somewhere import *
from trl import SFTConfig as Config


class SFTConfig:  # shadow: a class of the project of that name
    def __init__(self, folder, max_seq_length):
        self.max_seq_length = max_seq_length


def make(options, **kwargs):
    own = SFTConfig("out", max_seq_length=512)
    brought = FancyConfig("out", max_seq_length=512)  # star: nobody knows what the import brings
    spread = Config("out", **options)  # splat: what the dictionary holds cannot be seen
    hidden = Config("out", **kwargs)  # keyword: the same
    try:
        return Config("out", max_seq_length=512)
    except TypeError:
        return own, brought, spread, hidden
