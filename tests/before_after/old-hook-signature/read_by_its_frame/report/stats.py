import sys


def log_outputs(module):
    module.log("count", len(sys._getframe(1).f_locals["outputs"]))
