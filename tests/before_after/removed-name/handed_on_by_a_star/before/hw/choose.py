import importlib


def accelerator(kind):
    return getattr(importlib.import_module("hw"), f"{kind}Accelerator")()
