from functools import wraps

import torch


def measured(fn):
    @wraps(fn)
    def call(model, *args):
        was, _ = model.training, model.eval()
        try:
            with torch.enable_grad():
                return fn(model, *args)
        finally:
            model.train(was)

    return call
