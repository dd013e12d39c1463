"""Runs of the code as it is, kept for the next time: the same command on the same files is not run twice.

A kept run is used for a day at most, and only while the files, the command, its limits, the environment and the probe
are the same. What is installed may have changed too: the caller compares the versions that the new run names.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from codemods.verify.symptoms import Run
from codemods.verify.trace import trace_of
from fixer.git.command import GitFailed, git, top
from fixer.verify.sandbox.command import Limits
from fixer.verify.sandbox.copies import Origin, files

DAY = 86_400.0
"""Seconds."""
MOST = 50
"""Runs that are kept; the oldest go first."""
OF_THE_SHELL = frozenset({"_", "OLDPWD", "PWD", "SHLVL", "COLUMNS", "LINES"})
"""Variables that change from one command to the next and mean nothing to it."""


@dataclass(frozen=True, slots=True)
class KeptRuns:
    """A directory of runs, one file each. What cannot be read or written there is as if it had not been kept."""

    place: Path

    @classmethod
    def of_user(cls) -> KeptRuns:
        """Beside what else `fixer` keeps."""
        from fixer.run import cache_directory

        return cls(cache_directory.directory() / "runs")

    def find(self, key: str) -> tuple[Run, float] | None:
        """The run that is kept under a key, and its age in seconds."""
        file = self._file(key)
        try:
            age = time.time() - file.stat().st_mtime
            told = json.loads(file.read_text(encoding="utf-8"))
            if not 0 <= age <= DAY:
                return None
            return Run(**{**told, "traces": tuple(map(trace_of, told["traces"]))}), age
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def keep(self, key: str, run: Run) -> None:
        """Keep a run, readable by the person only: it holds what the program printed."""
        with suppress(OSError):
            self.place.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.place, encoding="utf-8", delete=False) as file:
                json.dump(dataclasses.asdict(run), file)
            Path(file.name).replace(self._file(key))
            kept = sorted(self.place.iterdir(), key=lambda each: each.stat().st_mtime)
            for old in kept[:-MOST]:
                old.unlink(missing_ok=True)

    def clear(self) -> None:
        """Forget all of them."""
        for file in list(self.place.glob("*")):
            with suppress(OSError):
                file.unlink()

    def _file(self, key: str) -> Path:
        return self.place / f"{key}.json"


def key_of(origin: Origin, command: str, place: Path, limits: Limits) -> str:
    """What a run depends on, as far as it can be told before it.

    Raises:
        Refusal: if git cannot list the files.
    """
    environment = sorted((name, value) for name, value in os.environ.items() if name not in OF_THE_SHELL)
    parts = (_probe(), command, str(place), limits, origin, environment, _head(origin), list(_files(origin)))
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _files(origin: Origin) -> Iterator[tuple[str, int, int]]:
    """The files that a copy is made of, by size and time of their last change."""
    names = files(origin.root) if origin.commit is None else iter(())
    for name in names:
        yield _look(name, origin.root / name)
    for linked in origin.linked:
        place = origin.root / linked
        for directory, _, inside in os.walk(place):
            for name in sorted(inside):
                yield _look(f"{directory}/{name}", Path(directory, name))
        yield _look(linked, place)


def _look(name: str, place: Path) -> tuple[str, int, int]:
    try:
        info = place.lstat()
    except OSError:
        return name, -1, -1
    return name, info.st_size, info.st_mtime_ns


def _head(origin: Origin) -> str:
    if origin.commit is not None or top(origin.root) != origin.root:
        return ""
    try:
        return os.fsdecode(git("rev-parse", "--verify", "--quiet", "HEAD", at=origin.root))
    except GitFailed:
        return ""


@cache
def _probe() -> str:
    """What watches a run, as a digest."""
    import codemods.verify

    sources = Path(codemods.verify.__file__).parent
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(sources.glob("*.py")))).hexdigest()
