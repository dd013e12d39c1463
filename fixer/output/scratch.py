"""Directories for clones and drafts, which go away even if the process that made them was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fixer.errors import Refusal
from fixer.output.locked import locked
from fixer.output.undisturbed import undisturbed

ATTEMPTS, PAUSE = 20, 0.05
"""To remove a directory, and the seconds between them."""


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty directory of our own, while the block lasts.

    A directory is locked as long as its maker lives, and the system lets go of a dead one's locks: what is there and
    not locked is what somebody could not tidy away, and goes before a new one is made.

    Raises:
        Refusal: if there is no place for it.
    """
    home = Path(tempfile.gettempdir()) / f"fixer-{os.getuid()}"
    try:
        directory, held = _made(home)
    except OSError as error:
        raise Refusal(f"{home}: {error.strerror}; point TMPDIR to a directory with room") from error
    try:
        yield directory
    finally:
        with undisturbed():
            for _ in range(ATTEMPTS):
                # What was killed with its children may write for a moment longer.
                shutil.rmtree(directory, ignore_errors=True)
                if not directory.exists():
                    break
                time.sleep(PAUSE)
            os.close(held)
            with suppress(OSError), locked(home):
                home.rmdir()  # unless others are at work there


def _made(home: Path) -> tuple[Path, int]:
    """A new directory, and what keeps it locked.

    Raises:
        OSError: if there is no place for it.
        Refusal: if the place is somebody else's.
    """
    for _ in range(ATTEMPTS):
        home.mkdir(mode=0o700, exist_ok=True)
        if home.is_symlink() or home.stat().st_uid != os.getuid():
            raise Refusal(f"{home} belongs to somebody else: point TMPDIR to a directory of yours")
        with suppress(FileNotFoundError), locked(home):  # the last one who was there takes it away
            _sweep(home)
            directory = Path(tempfile.mkdtemp(dir=home))
            held = os.open(directory, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_EX)
            return directory, held
    raise FileNotFoundError(2, "is taken away again and again")


def _sweep(home: Path) -> None:
    for left in home.iterdir():
        try:
            handle = os.open(left, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        else:
            shutil.rmtree(left, ignore_errors=True)
        finally:
            os.close(handle)
