class Skipped(Exception):
    pass


def check(norm):
    if norm > 100.0:
        raise Skipped
