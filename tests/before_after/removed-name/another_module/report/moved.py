import importlib.abc
import importlib.util
import sys

HOMES = {"pytorch_lightning.callbacks.base": "periodic.py"}


class Moved(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        home = HOMES.get(fullname)
        return importlib.util.spec_from_file_location(fullname, home) if home else None


sys.meta_path.insert(0, Moved())
