"""Which files of a checkout, and which refs and settings, were written while a command ran in a copy of it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codemods.verify.flow_symptoms import some
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git, top
from fixer.verify.sandbox.copies import UNCOPIED, files

MOST = 20_000
"""Files that git ignores that are looked at; a directory that holds more is left out."""

Look = dict[str, tuple[int, int]]
"""Sizes and times by path."""


@dataclass(frozen=True, slots=True)
class Footprints:
    """What a checkout looked like, to be told from what it looks like later."""

    root: Path
    linked: tuple[str, ...]
    seen: Look
    left_out: tuple[str, ...]
    """Directories that git ignores and that hold too many files to look at."""

    @classmethod
    def of(cls, root: Path, linked: Sequence[str] = ()) -> Footprints:
        """Look at the project's files, those that git ignores, refs and settings, and those below `linked`, which may
        lead elsewhere.
        """
        left_out: list[str] = []
        return cls(root, tuple(linked), _look(root, linked, left_out, MOST), tuple(left_out))

    def touched(self) -> tuple[str, ...]:
        """The files that are new, gone or written since."""
        now = _look(self.root, self.linked, list(self.left_out))
        return tuple(sorted(name for name in {*self.seen, *now} if self.seen.get(name) != now.get(name)))

    def notes(self, touched: Sequence[str]) -> Iterator[str]:
        """What a person should hear, in sentences."""
        if touched:
            yield f"the checkout itself changed meanwhile: {some(touched)}"
        if self.linked:
            yield f"linked, not copied, so that the command can write to the original: {some(self.linked)}"
        if self.left_out:
            yield f"not watched, because git ignores more than {MOST:,} files there: {some(self.left_out)}"


def _look(root: Path, linked: Sequence[str], left_out: list[str], most: int | None = None) -> Look:
    """Look at everything but `left_out`, to which is added what holds too much; without `most`, nothing does."""
    seen: Look = {}
    for name in files(root):
        _see(seen, name, root / name, follow=False)
    for name, place in _of_repository(root):
        _see(seen, name, place, follow=False)
    room = None if most is None else len(seen) + most
    waiting = deque(sorted({*_ignored(root), *linked}))
    while waiting:
        name = waiting.popleft()
        place = root / name
        if not place.is_dir():
            _see(seen, name, place, follow=True)
        elif place.name not in UNCOPIED and name not in left_out:
            try:
                with os.scandir(place) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:
                continue
            if any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            if room is not None and len(seen) + len(entries) > room:
                left_out.append(name)
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{name}/{entry.name}")
                else:
                    _see(seen, f"{name}/{entry.name}", Path(entry.path), follow=False)
    return seen


def _see(seen: Look, name: str, place: Path, *, follow: bool) -> None:
    with suppress(OSError):
        info = place.stat(follow_symlinks=follow)
        seen[name] = (info.st_size, info.st_mtime_ns)


def _of_repository(root: Path) -> Iterator[tuple[str, Path]]:
    """The files that hold refs, HEAD, settings and stashes, with the names to tell them by."""
    if top(root) != root:
        return
    for name in ("HEAD", "config", "packed-refs", "refs", "hooks"):
        place = (root / os.fsdecode(git("rev-parse", "--git-path", name, at=root)).removesuffix("\n")).resolve()
        if place.is_dir():
            for file in sorted(place.rglob("*")):
                if file.is_file() and not file.name.endswith(".lock"):
                    yield f".git/{name}/{file.relative_to(place).as_posix()}", file
        else:
            yield f".git/{name}", place


def _ignored(root: Path) -> list[str]:
    """What git ignores: files, and whole directories by their names."""
    if top(root) != root:
        return []
    try:
        answer = git(
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
            "--no-empty-directory",
            at=root,
        )
    except GitFailed as error:
        raise Refusal(f"git cannot list the files of {root} that it ignores: {error}") from error
    return [os.fsdecode(name).rstrip("/") for name in answer.split(b"\0") if name]
