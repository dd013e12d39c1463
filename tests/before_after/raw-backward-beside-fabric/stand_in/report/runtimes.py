class Local:
    """What our loops need of Fabric, for machines without it."""

    device = "cpu"

    def setup(self, *objects):
        return objects

    def print(self, *args):
        print(*args)


RUNTIMES = {"local": Local}


def start(name="local"):
    return RUNTIMES[name]()
