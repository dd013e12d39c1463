from contextlib import contextmanager


class Accepted(Exception):
    pass


@contextmanager
def refused(what):
    """The block has to be refused: otherwise our table of names in docs/precision.md is out of date."""
    try:
        yield
    except ValueError as error:
        print(f"{what}: refused, as documented ({str(error)[:40]})")
    else:
        raise Accepted(what)
