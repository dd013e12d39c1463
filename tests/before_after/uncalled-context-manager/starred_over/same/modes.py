import contextlib

import torch


@contextlib.contextmanager
def _timed():
    with torch.no_grad():
        yield


class Mode:
    def __enter__(self):
        self.manager = _timed()
        return self.manager.__enter__()

    def __exit__(self, *error):
        return self.manager.__exit__(*error)


no_grad = Mode()
