# fixer: target=accelerate==1.15.0
"""Whoever is given the function calls it with an argument that the new one does not take."""

from accelerate.utils import is_tpu_available


def guarded(asks):
    return asks(check_device=False)


print(guarded(is_tpu_available))
