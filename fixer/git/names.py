"""What git knows of a work tree without reading its files: which there are, and what it calls their content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fixer.errors import Refusal
from fixer.git.command import GitFailed, begin, git

_BENDS = re.compile(rb"\b(?:filter|eol|crlf|text|ident|working-tree-encoding)\b")
"""Attributes by which the file on disk may hold other bytes than git's object."""
_TRACKED = re.compile(r"(?<![^\0])\S \d+ [0-9a-f]+ \d\t([^\0]+)")
_REGULAR = re.compile(r"(?<![^\0])H 100\d+ ([0-9a-f]+) 0\t([^\0]+)")
"""A lower-case letter: git was told to assume that the file does not change. S: it need not be there."""


@dataclass(frozen=True, slots=True)
class Known:
    """The files of a work tree."""

    paths: Sequence[str]
    """The tracked ones, and the new ones that are not ignored."""
    unchanged: Mapping[str, str]
    """Tracked regular files that lie there as git has them: path → name of the object."""


def known(root: Path) -> Known:
    """What git knows, its three answers asked for at once.

    Raises:
        Refusal: if git cannot list the files.
    """
    with _listing(root):
        listed = begin("ls-files", "-z", "--cached", "--stage", "-v", at=root)
        new = begin("ls-files", "-z", "--others", "--exclude-standard", at=root)
        changed = begin("diff-files", "-z", "--name-only", "--ignore-submodules", at=root)
        tracked = os.fsdecode(listed())
        paths = dict.fromkeys(_TRACKED.findall(tracked))  # a file in a conflict is named once for each side
        names = {path: name for name, path in _REGULAR.findall(tracked)}
        try:
            for path in os.fsdecode(changed()).split("\0"):
                names.pop(path, None)
        except GitFailed:
            names = {}
        paths |= dict.fromkeys(os.fsdecode(new()).split("\0")[:-1])
    return Known(tuple(paths), names)


def known_among(root: Path, paths: Sequence[str]) -> list[str]:
    """Those of some paths that git would list, in their order.

    Raises:
        Refusal: if it cannot.
    """
    listing = ("--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
    with _listing(root):
        found = frozenset(os.fsdecode(git(*listing, *paths, at=root)).split("\0"))
    return [path for path in paths if path in found]


@contextmanager
def _listing(root: Path) -> Iterator[None]:
    try:
        yield
    except GitFailed as error:
        raise Refusal(f"git cannot list the files of {root}: {error}") from error


def bends(root: Path, attributes: Iterable[bytes]) -> bool:
    """Whether a file on disk may hold other bytes than the object that git takes it for.

    Args:
        attributes: the contents of the `.gitattributes` files of the tree.
    """
    if any(map(_BENDS.search, attributes)):
        return True
    try:
        said = git("config", "--get-regexp", r"^core\.(autocrlf|attributesfile|eol)$", at=root)
    except GitFailed:
        said = b""
    values = dict(line.partition(b" ")[::2] for line in said.lower().splitlines())
    if values.pop(b"core.autocrlf", b"false") not in (b"false", b"no", b"off", b"0") or values:
        return True
    return (root / ".git" / "info" / "attributes").exists()
