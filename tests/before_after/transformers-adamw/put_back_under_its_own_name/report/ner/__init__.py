import importlib

importlib.import_module(__name__ + "._legacy")
