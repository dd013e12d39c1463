# fixer: upgrade=transformers@5.23.0
import transformers
from somewhere import *  # star: nobody knows that it brings a name of Transformers


def evaluation_strategy(make, options, kind, **more):  # shadow: a function of that name
    first = make(*options)  # splat: no name
    second = make(kind=kind, **more)  # keyword: no old name
    return first, second, transformers.set_seed(3), AdamWeightDecay
