"""A directory that one process at a time works in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Wait until nobody else is at work there; without locks, where the system has none.

    Raises:
        OSError: if it cannot be opened.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
