import functools
import inspect


def known_arguments(method):
    """Lets a method of an older signature live below a newer Trainer."""
    names = set(inspect.signature(method).parameters)

    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        return method(self, *args, **{k: v for k, v in kwargs.items() if k in names})

    return wrapper
