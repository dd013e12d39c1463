"""A progress bar on standard error, for runs that take long enough to want one."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 0.7
"""Seconds after which a bar appears."""


@contextmanager
def progress(wanted: bool) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told (done, total) and draws a bar if this goes on for long, on a terminal only."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda done, total: None
        return
    start = time.monotonic()
    shown = False

    def show(done: int, total: int) -> None:
        nonlocal shown
        if done < total and time.monotonic() - start > PATIENCE:
            shown = True
            filled = 30 * done // max(1, total)
            bar = "━" * filled + "─" * (30 - filled)
            print(f"\r{bar} {done:,}/{total:,} files", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
