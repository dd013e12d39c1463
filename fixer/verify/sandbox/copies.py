"""Temporary copies of a project: of the files as they lie on disk, or of a commit through the repository's filters.

In a repository a copy is a repository of its own, so that programs which ask git where they are get an answer, and what
they write through git stays there. Nothing of the checkout is written; `.venv` and the like are linked.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from codemods.model.plan import Plan
from fixer.errors import Refusal
from fixer.git.command import GitFailed, git, top
from fixer.verify.sandbox.clone import clone

LARGEST = 4_000_000_000
"""Bytes that are copied at most; what is larger holds data, which git should ignore."""
SMALL, FEW = 200_000_000, 10_000
"""Bytes and files of a linked path up to which it is copied."""
UNCOPIED = frozenset({".git", "__pycache__", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache"})


@dataclass(frozen=True, slots=True)
class Origin:
    """What is copied."""

    root: Path
    """Resolved."""
    commit: str | None = None
    """This commit of the repository at `root`, instead of the files on disk."""
    linked: tuple[str, ...] = ()
    """Paths below the root that the copy gets too, what is large as links: what git ignores and the command needs."""

    def __post_init__(self) -> None:
        for name in self.linked:
            source = Path(os.path.normpath(self.root / name))
            if not source.is_relative_to(self.root) or source == self.root:
                raise Refusal(f"--link {name}: lies outside of {self.root}")
            if not source.exists():
                raise Refusal(f"--link {name}: there is no such file or directory below {self.root}")


@contextmanager
def copied(origin: Origin, place: Path, plan: Plan | None = None) -> Iterator[Path]:
    """A copy at `place` for as long as the context lasts, with the fixes of `plan` written into it.

    Raises:
        Refusal: if it cannot be made.
    """
    try:
        try:
            _fill(origin, place, plan)
        except OSError as error:
            raise Refusal(f"no copy of {origin.root} could be made in {place.parent}: {error}") from error
        except GitFailed as error:
            raise Refusal(f"git could not make a temporary repository of {origin.root}: {error}") from error
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _fill(origin: Origin, place: Path, plan: Plan | None) -> None:
    place.mkdir(parents=True)
    if origin.commit is not None or top(origin.root) == origin.root:
        clone(origin.root, place, origin.commit)
    if origin.commit is None:
        _copy(origin.root, place)
    originals = (*_environments(origin.root), *shared(origin))
    for name in (*originals, *origin.linked):
        _link(origin.root, place, name, copying=name not in originals)
    if plan is not None:
        _write(plan, place)


def files(root: Path) -> Iterator[str]:
    """Every file and link that belongs to a project, relative to its root; what git ignores does not."""
    if top(root) != root:
        yield from _walk(root, "")
        return
    try:
        answer = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", at=root)
    except GitFailed as error:
        raise Refusal(f"git cannot list the files of {root}: {error}") from error
    for name in sorted({os.fsdecode(name).rstrip("/") for name in answer.split(b"\0") if name}):
        place = root / name
        if place.is_dir() and not place.is_symlink():  # a submodule, or a repository inside of this one
            yield from (f"{name}/{inner}" for inner in files(place.resolve()))
        elif os.path.lexists(place):
            yield name


def _walk(root: Path, directory: str) -> Iterator[str]:
    with os.scandir(root / directory) as entries:
        children = sorted(entries, key=lambda entry: entry.name)
    if any(child.name == "pyvenv.cfg" for child in children):
        return
    for child in children:
        path = f"{directory}/{child.name}" if directory else child.name
        if child.is_dir(follow_symlinks=False):
            if child.name not in UNCOPIED:
                yield from _walk(root, path)
        else:
            yield path


def _copy(root: Path, place: Path) -> None:
    size = 0
    made: set[Path] = set()
    for name in files(root):
        source, target = root / name, place / name
        if target.parent not in made:
            target.parent.mkdir(parents=True, exist_ok=True)
            made.add(target.parent)
        info = source.lstat()
        size += info.st_size
        if size > LARGEST:
            raise Refusal(
                f"{root} holds more than {LARGEST:,} bytes, too many to copy: let git ignore the data, "
                "and name what the command needs with --link"
            )
        if stat.S_ISLNK(info.st_mode) or stat.S_ISREG(info.st_mode):
            shutil.copy2(source, target, follow_symlinks=False)


def _environments(root: Path) -> Sequence[str]:
    """Virtual environments at the root of a project."""
    with os.scandir(root) as entries:
        return [entry.name for entry in entries if (root / entry.name / "pyvenv.cfg").is_file()]


def shared(origin: Origin) -> tuple[str, ...]:
    """The linked paths that stay links in a copy: what the command writes there is written to the originals."""
    return tuple(name for name in origin.linked if not _is_small(origin.root / name))


def _is_small(source: Path) -> bool:
    """Whether a file or directory is little enough to copy, and holds no link that leads out of it."""
    size = count = 0
    waiting = [source]
    while waiting:
        place = waiting.pop()
        info = place.lstat()
        size, count = size + info.st_size, count + 1
        if size > SMALL or count > FEW:
            return False
        if stat.S_ISDIR(info.st_mode):
            waiting += place.iterdir()
        elif stat.S_ISLNK(info.st_mode):
            if place.readlink().is_absolute() or not place.resolve().is_relative_to(source):
                return False
        elif not stat.S_ISREG(info.st_mode):
            return False
    return True


def _link(root: Path, place: Path, name: str, *, copying: bool = False) -> None:
    source = Path(os.path.normpath(root / name))
    target = place / source.relative_to(root)
    if target.is_dir() and not target.is_symlink() and source.is_dir():
        for inside in sorted(source.iterdir()):
            _link(root, place, str(inside.relative_to(root)), copying=copying)
    elif not os.path.lexists(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        if not copying:
            target.symlink_to(source, target_is_directory=source.is_dir())
        elif source.is_dir() and not source.is_symlink():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy2(source, target, follow_symlinks=False)


def _write(plan: Plan, place: Path) -> None:
    """Write the fixes. A path that is a link means the file that it leads to inside of the copy."""
    for file in plan.changed:
        target = Path(os.path.realpath(place / file.path))
        if not target.is_relative_to(place.resolve()) or target.read_bytes() != file.before:
            raise Refusal(f"{file.path} changed while fixer was running; run fixer again")
        target.write_bytes(file.after)
