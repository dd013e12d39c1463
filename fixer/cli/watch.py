"""`fixer check --watch`: the check again, in the same process, whenever a file that it reads changes."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codemods.model.visible import harmless
from codemods.sources.files import is_listed, is_source
from fixer.errors import Refusal

if TYPE_CHECKING:
    from fixer.cli.screen import Screen

SETTINGS = frozenset({"fixer.toml", ".gitignore", ".gitattributes"})
"""Files that are no sources and decide what is looked at."""
EVERY = 100
"""Milliseconds after which it is seen whether the person wants to end."""


def check_on_changes(root: Path, screen: Screen, look: Callable[[], object]) -> None:
    """Call `look` now, and after each change of a file below `root` that a check reads. Ctrl-C ends it.

    A sentence that refuses (a configuration that is broken while it is being written) is shown, and the next change
    waited for.

    Raises:
        Refusal: if changes cannot be watched here.
    """
    for changed in _changes(root):
        if screen.pretty and not screen.verbose:
            print("\x1b[2J\x1b[3J\x1b[H", end="", flush=True)
        began = time.perf_counter()
        try:
            look()
        except Refusal as refusal:
            print(harmless(f"fixer: {refusal}"), file=sys.stderr)
        gc.collect()
        gc.freeze()  # what stays is not looked through again after each change
        took = time.perf_counter() - began
        why = f"{changed} changed" if changed else f"watching {root}"
        screen.note(f"{time.strftime('%H:%M:%S')}: {why}; checked in {took:.2f} s (Ctrl-C ends)")


def _changes(root: Path) -> Iterator[str]:
    """At once, then after each change: the name of a file that changed."""
    try:
        from watchfiles import Change, DefaultFilter, watch
    except ImportError as error:
        raise Refusal("--watch requires watchfiles: pip install 'ampfix[watch]'") from error

    usual = DefaultFilter()
    waiting = watch(
        root,
        watch_filter=lambda change, path: usual(change, path) and _is_read(root, path, gone=change is Change.deleted),
        rust_timeout=EVERY,
        yield_on_timeout=True,
        raise_interrupt=False,
    )
    first = True
    try:
        for changes in waiting:
            if changes or first:
                first = False
                yield (
                    Path(min((path for _, path in changes), key=_said_first)).relative_to(root).as_posix()
                    if changes
                    else ""
                )
    except (OSError, RuntimeError) as error:
        raise Refusal(f"--watch: the system does not tell of changes below {root}: {error}") from error


def _said_first(path: str) -> tuple[bool, bool, str]:
    """Of several changes that is said which is a source; an editor may have written to a file beside it first."""
    return not is_source(path), Path(path).is_dir(), path


def _is_read(root: Path, path: str, *, gone: bool) -> bool:
    """Whether a check reads what changed.

    Of a new directory the system tells before its files can be watched, of a directory that was moved away it tells
    nothing else: the first counts if it holds a file that is read, the second if its name may be that of a directory.
    """
    if not gone and Path(path).is_dir():
        return any(_is_read(root, f"{at}/{name}", gone=False) for at, _, names in os.walk(path) for name in names)
    name = Path(path).relative_to(root).as_posix() if Path(path).is_relative_to(root) else path
    return is_listed(name) or Path(path).name in SETTINGS or (gone and "." not in Path(path).name)
