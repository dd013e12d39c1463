# fixer: target=datasets==5.2.0
from datasets import load_dataset


def data(name, secret):
    first = load_dataset(name, use_auth_token=secret, trust_remote_code=False)
    return first, load_dataset(name, ignore_verifications=True)
