# fixer: target=transformers==5.23.0
from transformers import AutoConfig, AutoTokenizer


class Renderer:
    @classmethod
    def from_pretrained(cls, name, **options):
        return cls(name, options.pop("use_auth_token"))

    def __init__(self, name, token):
        self.name, self.token = name, token


def processor(name, token, images):
    options = {"use_auth_token": token}
    if images:
        return Renderer.from_pretrained(name, **options)
    return AutoTokenizer.from_pretrained(name, **options)


def config(name, token):
    given = {"use_auth_token": token}
    return AutoConfig.from_pretrained(name, **given), AutoTokenizer.from_pretrained(name, **given)
