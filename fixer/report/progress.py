"""A progress bar on a terminal, for work that takes long enough to want one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 1.0
"""Seconds that a command takes before it shows a bar."""
SHORT = 0.5
"""Seconds up to which a phase shows none: it would be gone before it is read."""
EVERY = 0.1
"""Seconds between two drawings."""
WIDEST = 30


@contextmanager
def bar(console: Callable[[], Console], phase: str, total: int, began: float) -> Iterator[Callable[[int], None]]:
    """Draw a bar while a phase goes on, and remove it afterwards; give a function that is told of files as they finish.

    A thread draws, so that whatever interrupts the work never meets half a drawing.

    Args:
        console: the terminal, made when there is something to draw.
        total: how many files the phase is about.
        began: when the command began, as `time.monotonic` tells it.
    """
    done = 0
    counting = threading.Lock()
    over = threading.Event()

    def tick(count: int) -> None:
        nonlocal done
        with counting:
            done += count

    drawing = threading.Thread(
        target=_draw, args=(console, phase, total, lambda: done, began, over), daemon=True, name="progress"
    )
    try:
        drawing.start()
        yield tick
    finally:
        over.set()
        drawing.join()


def _draw(
    console: Callable[[], Console], phase: str, total: int, done: Callable[[], int], began: float, over: threading.Event
) -> None:
    start = time.monotonic()
    if over.wait(max(began + PATIENCE, start + SHORT) - start):
        return
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.table import Column

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None, table_column=Column(max_width=WIDEST)),
        TextColumn("{task.completed:,}/{task.total:,} files{task.fields[rate]}"),
    )
    with (
        suppress(OSError),  # the terminal is gone
        Progress(
            *columns,
            console=console(),
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as shown,
    ):
        task = shown.add_task(phase, total=total, completed=done(), rate="")
        while not over.wait(EVERY):
            count = done()
            shown.update(task, completed=count, rate=_rate(count, time.monotonic() - start), refresh=True)


def _rate(count: int, seconds: float) -> str:
    """How many files are done in a second, as it is shown; nothing before the first one."""
    if not count:
        return ""
    rate = count / seconds
    return f" {rate:,.0f} files/s" if rate >= 10 else f" {rate:.1f} files/s"
