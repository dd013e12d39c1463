import importlib

import yaml


def region(path):
    with open(path) as file:
        name = yaml.safe_load(file)["region"]
    return vars(importlib.import_module("regions"))[name]()
