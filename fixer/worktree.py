"""The files of a directory, as the engine reads them: nothing outside the root, nothing but regular files."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

LARGEST = 100_000_000
"""Bytes; what is larger is neither source nor metadata and is not read into memory."""


@dataclass(frozen=True, slots=True)
class WorkTree:
    """Reads paths relative to `root`; `listing` is what a search of the project may look at."""

    root: Path
    """Resolved: no symbolic link on the way."""
    listing: tuple[str, ...] = ()
    _known: dict[str, bool] = field(default_factory=dict, compare=False, repr=False)
    """Answers of `exists`: looking for a module asks after the same few places again and again."""

    def locate(self, path: str) -> Path | None:
        """The real file behind `path`, with symbolic links followed; None if that leads outside the root."""
        real = Path(os.path.realpath(self.root / path))
        return real if real.is_relative_to(self.root) and "\0" not in path else None

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file of at most LARGEST bytes; None for anything else."""
        try:
            if (real := self.locate(path)) is None:
                return None
            info = real.stat()
            if not stat.S_ISREG(info.st_mode) or info.st_size > LARGEST:
                return None
            return real.read_bytes()
        except (OSError, ValueError):
            return None

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory of that name inside the root."""
        if path not in self._known:
            try:
                # Most places hold nothing, which is quicker to see than where links lead.
                self._known[path] = (self.root / path).exists() and self.locate(path) is not None
            except (OSError, ValueError):
                self._known[path] = False
        return self._known[path]

    def files(self) -> Sequence[str]:
        """Every file that may be read, sorted."""
        return self.listing


def why_unreadable(root: Path, path: str) -> str:
    """Why a file that should be there could not be read, in a few words."""
    try:
        info = (root / path).stat()
        if not stat.S_ISREG(info.st_mode):
            return "not a regular file"
        if info.st_size > LARGEST:
            return f"{info.st_size:,} bytes; files above {LARGEST:,} bytes are not read"
        with (root / path).open("rb") as file:
            file.read(1)
    except OSError as error:
        return error.strerror or type(error).__name__
    return "could not be read"
