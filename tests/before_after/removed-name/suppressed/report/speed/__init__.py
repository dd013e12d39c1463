import contextlib

from . import plain as backend

with contextlib.suppress(ImportError):
    from . import old as backend  # where Lightning 1.9 is installed

start = backend.start
