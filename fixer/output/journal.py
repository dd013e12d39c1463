"""What a run is about to write, noted beside the files. A run that died in between leaves its journal; the next run
puts back files that belong together and were written in part, and removes what lies about.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codemods.model.plan import FilePlan

SUFFIX = ".fixer"
"""How the names of our temporary files end."""
_NAME = re.compile(r"\.fixer-([0-9a-f]{16})\.journal")
_FORMAT = 1
_LARGEST = 20_000_000
"""Bytes of a journal."""


@dataclass(frozen=True, slots=True)
class TemporaryNames:
    """The names under which one run keeps what belongs to a file, in the file's own directory."""

    target: Path
    """The file itself, links followed."""
    token: str

    @property
    def temporary(self) -> Path:
        """Its new bytes, until they take its place."""
        return self.target.with_name(f".{self.target.name[:100]}.{self.token}{SUFFIX}")

    @property
    def original(self) -> Path:
        """The file as it was, until the files that it is tied to are written."""
        return self.target.with_name(f".{self.target.name[:100]}.{self.token}.original{SUFFIX}")


class Journal:
    """The groups of files that a run writes, in the root of what it looked at."""

    def __init__(self, token: str, file: Path) -> None:
        self.token, self.file = token, file
        self.needed = False
        """Whether something could not be put back: the next run tries again."""

    @classmethod
    @contextmanager
    def begin(cls, groups: Sequence[Sequence[FilePlan]], root: Path) -> Iterator[Journal]:
        """Keep a journal as long as a block runs. Where none can be written, the block runs without."""
        token = os.urandom(8).hex()
        journal = cls(token, root / f".fixer-{token}.journal")
        handle = None
        try:
            with suppress(OSError):
                handle = os.open(journal.file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                _lock(handle)
                entries = [[(f.path, _digest(f.before), _digest(f.after)) for f in group] for group in groups]
                text = json.dumps({"format": _FORMAT, "groups": entries}).encode()
                while text:  # a disk that is almost full takes a part
                    text = text[os.write(handle, text) :]
                os.fsync(handle)
            yield journal
        finally:
            if handle is not None:
                if not journal.needed:
                    with suppress(OSError):
                        journal.file.unlink(missing_ok=True)
                os.close(handle)

    def remove(self, file: Path) -> None:
        """Remove a temporary file; where that cannot be done, the next run does it."""
        try:
            file.unlink()
        except OSError:
            self.needed = True


def interrupted(root: Path) -> tuple[str, ...]:
    """A sentence for each run that died below a root while it wrote files that belong together."""
    found = (part for _, left in _left_behind(root) for part in left if part.half_written)
    return tuple(f"{part.begun}: run `fixer apply` again, which first puts them back" for part in found)


def recover(root: Path) -> tuple[str, ...]:
    """Put back what runs that died have written in part, and remove what they left; a sentence for each."""
    told: list[str] = []
    for file, left in _left_behind(root):
        done = [part.put_back() for part in left if part.half_written]
        told += done
        strays = [each for part in left for each in part.strays()]
        with suppress(OSError):
            for each in strays:
                each.unlink()
            if not any(part.half_written for part in left):
                file.unlink()
        if strays and not done:
            told.append(f"an earlier run was interrupted: its temporary files ({len(strays)}) are removed")
    return tuple(told)


@dataclass(frozen=True, slots=True)
class _Left:
    """One file of a group, as a run that died has left it."""

    path: str
    names: TemporaryNames
    before: str
    after: str

    @property
    def now(self) -> str:
        return _digest_of(self.names.target)


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that belong together, as a run that died has left them."""

    files: tuple[_Left, ...]

    @property
    def half_written(self) -> bool:
        """Whether some files are written and the others are not; a file that somebody changed since settles it."""
        states = [(each.now == each.after, each.now == each.before) for each in self.files]
        return {*states} == {(True, False), (False, True)}

    @property
    def begun(self) -> str:
        """How a sentence about it begins."""
        paths = ", ".join(each.path for each in self.files)
        return f"an earlier run was interrupted while it wrote files that belong together ({paths})"

    def put_back(self) -> str:
        """Give the files that are written what they held before; what became of it."""
        stuck = []
        for each in self.files:
            if each.now == each.after:
                if _digest_of(each.names.original) != each.before:
                    stuck.append(each.path)
                    continue
                try:
                    each.names.original.replace(each.names.target)
                except OSError:
                    stuck.append(each.path)
        if stuck:
            return f"{self.begun}, and {', '.join(stuck)} cannot be put back: compare them with the last commit"
        return f"{self.begun}; they are put back"

    def strays(self) -> Iterator[Path]:
        """The temporary files that lie about. An original that alone holds what its file held stays."""
        for each in self.files:
            if each.names.temporary.is_file():
                yield each.names.temporary
            if each.names.original.is_file() and each.now in (each.before, each.after) and not self.half_written:
                yield each.names.original


def _left_behind(root: Path) -> Iterator[tuple[Path, list[_Group]]]:
    """The journals of runs that are at work no more, with their groups."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    except OSError:
        return
    for name in sorted(names):
        file = root / name
        try:
            handle = os.open(file, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except OSError:
            continue
        try:
            if not _lock(handle) or os.fstat(handle).st_uid != os.getuid():
                continue
            try:
                groups = _groups(json.loads(os.read(handle, _LARGEST)), name[len(".fixer-") : -len(".journal")], root)
            except (ValueError, TypeError, KeyError, OSError):
                groups = []  # it died before it had written this, and so before it wrote anything else
            yield file, groups
        finally:
            os.close(handle)


def _groups(kept: Any, token: str, root: Path) -> list[_Group]:
    """The groups of a journal.

    Raises:
        ValueError, TypeError, KeyError: if it is none, or names a file that does not lie in the root.
    """
    if kept["format"] != _FORMAT:
        raise ValueError("of another format")
    return [_Group(tuple(_left(each, token, root) for each in group)) for group in kept["groups"]]


def _left(entry: Sequence[str], token: str, root: Path) -> _Left:
    path, before, after = entry
    target = Path(os.path.realpath(root / path))
    if not target.is_relative_to(root.resolve()) or ".git" in target.relative_to(root.resolve()).parts:
        raise ValueError(f"{path} does not lie below {root}")
    return _Left(path, TemporaryNames(target, token), before, after)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _digest_of(file: Path) -> str:
    """The digest of a file; "" where there is none."""
    try:
        return "" if file.is_symlink() else _digest(file.read_bytes())
    except OSError:
        return ""


def _lock(handle: int) -> bool:
    """Take a lock that ends with the process; whether that was possible."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
