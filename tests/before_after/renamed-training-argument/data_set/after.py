# fixer: target=datasets==5.2.0
from datasets import load_dataset


def data(name, secret):
    first = load_dataset(name, token=secret)
    return first, load_dataset(name, verification_mode="no_checks")
