"""What a look at one file asked about other files: a result is as good as new while the answers are the same.

Questions are put at the lowest level there is: the content of a file, whether it exists, which files hold a literal,
what the packaging files say. What is found by way of them (facts, lineages, settings) is remembered with the questions
that led to it, and whoever uses it has asked them too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from codemods.sources import files

if TYPE_CHECKING:
    from codemods.project.index import Index
    from codemods.sources.document import Reader


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds."""

    path: str

    def answer(self, index: Index) -> str:
        return identity(index.reader, self.path)


@dataclass(frozen=True, slots=True)
class Existence:
    """Whether there is a file or directory."""

    path: str

    def answer(self, index: Index) -> str:
        return "there" if index.exists(self.path) else ""


@dataclass(frozen=True, slots=True)
class Holding:
    """Which files below a directory hold one of some literals."""

    directory: str
    literals: tuple[bytes, ...]
    suffixes: tuple[str, ...]

    def covers(self, path: str) -> bool:
        """Whether a file is one of those that are looked into."""
        return path.endswith(self.suffixes) and path.startswith(f"{self.directory}/" if self.directory else "")

    def answer(self, index: Index) -> str:
        return _digest(index.holding(self.directory, self.literals, self.suffixes))


@dataclass(frozen=True, slots=True)
class Packaging:
    """What the packaging files of the tree say, all together."""

    def answer(self, index: Index) -> str:
        paths = [path for path in index.reader.files() if files.is_manifest(path)]
        return _digest(part for path in paths for part in (path, identity(index.reader, path)))


Question: TypeAlias = Content | Existence | Holding | Packaging


class Questions:
    """The questions that are being asked: noted for everybody who wants to know, if anybody does."""

    def __init__(self, wanted: bool = False) -> None:
        self.wanted = wanted
        """Whether anybody will ever want to know."""
        self._noting: list[set[Question]] = []
        self._same: dict[frozenset[Question], frozenset[Question]] = {}
        """Equal sets are kept once: many names lead the same way."""

    def ask(self, question: Question) -> None:
        """Note one question."""
        if self._noting:
            self._noting[-1].add(question)

    def repeat(self, questions: Iterable[Question]) -> None:
        """Note what had to be asked for an answer that is known already."""
        if self._noting:
            self._noting[-1].update(questions)

    @contextmanager
    def noted(self) -> Iterator[set[Question]]:
        """The set to which all questions of a `with` block are added; they count for blocks around it too."""
        asked: set[Question] = set()
        if not self.wanted:
            yield asked
            return
        self._noting.append(asked)
        try:
            yield asked
        finally:
            self._noting.pop()
            self.repeat(asked)

    def together(self, asked: set[Question]) -> frozenset[Question]:
        """Some questions, to be kept."""
        kept = frozenset(asked)
        return self._same.setdefault(kept, kept)


def identity(reader: Reader, path: str) -> str:
    """What stands for the content of a file: the name that git gives it; "" where there is no such file."""
    known = getattr(reader, "identity", None)
    if known is not None and (name := known(path)) is not None:
        return str(name)
    data = reader.read(path)
    return "" if data is None else name_of(data)


def name_of(data: bytes) -> str:
    """The name that git gives to content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
