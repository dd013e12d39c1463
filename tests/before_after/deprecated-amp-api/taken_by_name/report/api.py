import importlib

EXPORTS = {"amp_utils": ("autocast", "forward")}


def load():
    return {n: getattr(importlib.import_module(m), n) for m, names in EXPORTS.items() for n in names}
