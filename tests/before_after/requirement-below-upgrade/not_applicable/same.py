# fixer: upgrade=transformers@5.23.0
import transformers
from somewhere import *  # star: no notebook, which alone installs something itself


class torch:  # shadow: a class of that name
    pass


def load(options, **more):
    first = transformers.AutoModel.from_pretrained(*options)  # splat: no requirement
    return first, transformers.AutoModel.from_pretrained(name="x", **more)  # keyword: no requirement
