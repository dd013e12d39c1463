"""What a look at one file asked about other files: a result is as good as new while the answers are the same.

Questions are as small as can be told cheaply: what the facts of a file say under one name, its code wherever it stands,
whether it exists, which files hold a literal, what the packaging files say. A file is asked for its content only where
its text is read, or where a result names it: then lines and comments count too. What is found by way of questions
(lineages, settings) is remembered with them, and whoever uses it has asked them too.
"""

from __future__ import annotations

import ast
import hashlib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ahocorasick_rs import BytesAhoCorasick, Implementation

from codemods.project.importing import spelled, spellings
from codemods.sources import files
from codemods.syntax.written_imports import written_imports

if TYPE_CHECKING:
    from codemods.project.index import Index
    from codemods.sources.document import Reader

FEW = 50
"""Questions that are noted one by one. More of them are noted as one set, which other askers share."""
POSITIONS = frozenset({"line", "end_line", "column"})
"""Fields of facts that say where something stands."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a file holds."""

    path: str

    def answer(self, index: Index) -> str:
        return index.contents[self.path]

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


@dataclass(frozen=True, slots=True)
class _OfContent(ABC):
    """A question about what a file holds. Its answer is that content, with which another one is compared."""

    path: str

    def answer(self, index: Index) -> str:
        return index.contents[files.container(self.path)]

    def still(self, answer: str, index: Index) -> bool:
        if self.answer(index) == answer:
            return True
        before = index.text_of(self.path, answer)
        return before is not None and self.told(index, answer) == self.told(index, None)

    @abstractmethod
    def told(self, index: Index, identity: str | None) -> object:
        """What there is to compare, of a content by its identity, or of the file as it is."""


@dataclass(frozen=True, slots=True)
class Code(_OfContent):
    """The syntax tree of a file, wherever its nodes stand."""

    def told(self, index: Index, identity: str | None) -> object:
        text = index.text_of(self.path, identity)
        return None if text is None else _code(text)


@dataclass(frozen=True, slots=True)
class Fact(_OfContent):
    """What the facts of a file say in one field, of one name or of all, wherever it stands."""

    field: str = ""
    """By default: whether there are facts at all."""
    name: str | None = None

    def told(self, index: Index, identity: str | None) -> object:
        facts = index.facts_of(self.path, identity)
        if facts is None or not self.field:
            return facts is None
        if self.name is None:
            return placeless(getattr(facts, self.field))
        if self.field == "imports":
            return placeless(tuple(facts.named(self.name)))
        value = getattr(facts, self.field)
        return self.name in value if isinstance(value, frozenset) else placeless(value.get(self.name))


@dataclass(frozen=True, slots=True)
class Words(_OfContent):
    """Whether the text of a file holds one of some words."""

    words: tuple[str, ...]

    def told(self, index: Index, identity: str | None) -> object:
        text = index.text_of(self.path, identity)
        return None if text is None else self.held(text)

    def held(self, text: str) -> bool:
        """Whether a text does."""
        return any(word in text for word in self.words)


@dataclass(frozen=True, slots=True)
class Existence:
    """Whether there is a file or directory."""

    path: str

    def answer(self, index: Index) -> str:
        return "there" if index.exists(self.path) else ""

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


@dataclass(frozen=True, slots=True)
class Holding:
    """Which files below a directory hold one of some literals."""

    directory: str
    literals: tuple[bytes, ...]
    suffixes: tuple[str, ...]

    def covers(self, path: str) -> bool:
        """Whether a file is one of those that are looked into."""
        return path.endswith(self.suffixes) and path.startswith(f"{self.directory}/" if self.directory else "")

    def holds(self, path: str, source: bytes) -> bool:
        """Whether a file of these bytes is found."""
        if len(self.literals) <= _FEW:
            return any(literal in source for literal in self.literals)
        return bool(_automaton(self.literals).find_matches_as_indexes(source))

    def includes(self, other: Search) -> bool:
        """Whether this finds all files that another question finds."""
        return (
            isinstance(other, Holding)
            and (self.directory in ("", other.directory) or other.directory.startswith(f"{self.directory}/"))
            and set(other.suffixes) <= set(self.suffixes)
            and all(any(mine in literal for mine in self.literals) for literal in other.literals)
        )

    def answer(self, index: Index) -> str:
        return _digest(index.found(self))

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


@dataclass(frozen=True, slots=True)
class Importing:
    """Which files below a directory may import a module: its path, as `codemods.project.importing` writes it."""

    directory: str
    module: str

    def covers(self, path: str) -> bool:
        """Whether a file is one of those that are looked into."""
        return path.endswith(files.PYTHON) and path.startswith(f"{self.directory}/" if self.directory else "")

    def holds(self, path: str, source: bytes) -> bool:
        """Whether a file of these bytes is found."""
        return not spellings(self.module).isdisjoint(spelled(path, source))

    def includes(self, other: Search) -> bool:
        """Whether this finds all files that another question finds."""
        return self == other

    def answer(self, index: Index) -> str:
        return _digest(index.found(self))

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


@dataclass(frozen=True, slots=True)
class Using:
    """Which Python files below a directory may import one of some packages."""

    directory: str
    packages: tuple[str, ...]

    def covers(self, path: str) -> bool:
        """Whether a file is one of those that are looked into."""
        return self.holding.covers(path)

    def holds(self, path: str, source: bytes) -> bool:
        """Whether a file of these bytes is found."""
        return self.holding.holds(path, source) and bool(self.used(source))

    def used(self, source: bytes) -> frozenset[str]:
        """The packages among these that a file of these bytes may import."""
        return frozenset(name.partition(".")[0] for name in written_imports(source)).intersection(self.packages)

    @property
    def holding(self) -> Holding:
        """A question whose answer holds the files of this one."""
        return Holding(self.directory, tuple(name.encode() for name in self.packages), files.PYTHON)

    def includes(self, other: Search) -> bool:
        """Whether this finds all files that another question finds."""
        return self == other

    def answer(self, index: Index) -> str:
        return _digest(index.found(self))

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


_FEW = 4
"""Words up to which one look for each is faster than one for all."""


@lru_cache(maxsize=64)
def _automaton(literals: tuple[bytes, ...]) -> BytesAhoCorasick:
    return BytesAhoCorasick(literals, implementation=Implementation.DFA)


_PUT = re.compile(rb"^[ \t]*([A-Za-z_]\w*)(?:\.\w+)+[ \t]*(?:=[^=]|,[^()\n]*=[^=])", re.MULTILINE)
_BUILDING = re.compile(rb"^[ \t]*[A-Za-z_][\w.]*\.__(?:init|new|call)__[ \t]*=[^=]", re.MULTILINE)
_WORD = re.compile(rb"\w+")
_IMPORTED = re.compile(rb"^[ \t]*(?:import|from)\b.*(?:\\\n.*|\([^)]*\))?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Replacing:
    """Which Python files below a directory may put something into a module or a class that they import."""

    directory: str

    def covers(self, path: str) -> bool:
        """Whether a file is one of those that are looked into."""
        return path.endswith(files.PYTHON) and path.startswith(f"{self.directory}/" if self.directory else "")

    def holds(self, path: str, source: bytes) -> bool:
        """Whether a file of these bytes is found.

        A constructor is put into whatever a function is given: `cls.__init__ = wrapped` (`taught_by_a_function`).
        """
        if _BUILDING.search(source):
            return True
        put = {each for each in _PUT.findall(source) if each not in (b"self", b"cls")}
        return bool(put) and any(not put.isdisjoint(_WORD.findall(each)) for each in _IMPORTED.findall(source))

    def includes(self, other: Search) -> bool:
        """Whether this finds all files that another question finds."""
        return self == other

    def answer(self, index: Index) -> str:
        return _digest(index.found(self))

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


@dataclass(frozen=True, slots=True)
class Packaging:
    """What the packaging files of the tree say, all together."""

    def answer(self, index: Index) -> str:
        paths = [path for path in index.reader.files() if files.is_manifest(path)]
        return _digest(part for path in paths for part in (path, identity(index.reader, path)))

    def still(self, answer: str, index: Index) -> bool:
        return index.answer(self) == answer


Search: TypeAlias = Holding | Importing | Using | Replacing
Question: TypeAlias = Content | Code | Fact | Words | Existence | Search | Packaging
Asked: TypeAlias = "tuple[Any, ...]"
"""A question as it is kept: its kind, then its fields."""
Noted: TypeAlias = "Question | frozenset[Any]"
"""A question, or a set of many that were asked for one answer, with sets in it in turn."""
_KINDS = {
    kind.__name__: kind
    for kind in (Content, Code, Fact, Words, Existence, Holding, Importing, Using, Replacing, Packaging)
}


@lru_cache(maxsize=100_000)
def packed(question: Question) -> Asked:
    """A question as plain values; the same ones where it is asked again and again."""
    return (type(question).__name__, *(getattr(question, field.name) for field in fields(question)))


def unpacked(asked: Asked) -> Question:
    """The question that was packed."""
    kind, *values = asked
    question: Question = _KINDS[kind](*values)
    return question


class Questions:
    """The questions that are being asked: noted for everybody who wants to know, if anybody does."""

    def __init__(self, wanted: bool = False) -> None:
        self.wanted = wanted
        """Whether anybody will ever want to know."""
        self._noting: list[set[Noted]] = []
        self._same: dict[frozenset[Noted], frozenset[Noted]] = {}
        """Equal sets are kept once: many names lead the same way."""

    @property
    def noting(self) -> bool:
        """Whether somebody wants to know now."""
        return bool(self._noting)

    def ask(self, question: Question) -> None:
        """Note one question."""
        if self._noting:
            self._noting[-1].add(question)

    def repeat(self, questions: frozenset[Noted]) -> None:
        """Note what had to be asked for an answer that is known already."""
        if self._noting and len(questions) > FEW:
            self._noting[-1].add(questions)
        elif self._noting:
            self._noting[-1].update(questions)

    @contextmanager
    def noted(self) -> Iterator[set[Noted]]:
        """The set to which all questions of a `with` block are added; they count for blocks around it too."""
        asked: set[Noted] = set()
        if not self.wanted:
            yield asked
            return
        self._noting.append(asked)
        try:
            yield asked
        finally:
            self._noting.pop()
            if self._noting:
                self.repeat(self.together(asked))

    def together(self, asked: set[Noted]) -> frozenset[Noted]:
        """Some questions, to be kept."""
        kept = frozenset(asked)
        return self._same.setdefault(kept, kept)


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """Questions with their answers."""

    answers: tuple[tuple[Asked, str], ...] = ()
    """Those that are in neither of the next two."""
    by_file: tuple[tuple[str, str, tuple[Asked, ...]], ...] = ()
    """Questions about what files hold: each file with its content. While that is the same, none is asked again."""
    by_directory: tuple[tuple[str, str, tuple[tuple[Asked, str], ...]], ...] = ()
    """Questions whether something is there: each directory that has it, or lacks it, with a name for its entries."""
    further: tuple[Answered, ...] = ()

    @classmethod
    def of(cls, questions: Iterable[Noted], further: Iterable[Answered], index: Index) -> Answered:
        """The answers to some questions; sets among them are left out."""
        answers: list[tuple[Asked, str]] = []
        by_file: dict[str, list[Asked]] = {}
        by_directory: dict[str, list[tuple[Asked, str]]] = {}
        for each in questions:
            if isinstance(each, _OfContent):
                by_file.setdefault(files.container(each.path), []).append(packed(each))
            elif isinstance(each, Existence) and index.entries[directory := index.nearest(each.path)]:
                by_directory.setdefault(directory, []).append((packed(each), index.answer(each)))
            elif not isinstance(each, frozenset):
                answers.append((packed(each), index.answer(each)))
        contents = ((path, index.contents[path], tuple(sorted(by_file[path], key=repr))) for path in by_file)
        entries = ((at, index.entries[at], tuple(sorted(by_directory[at], key=repr))) for at in by_directory)
        return cls(
            tuple(sorted(answers, key=repr)),
            tuple(sorted(contents, key=repr)),
            tuple(sorted(entries, key=repr)),
            tuple(further),
        )

    def still(self, index: Index) -> bool:
        """Whether all of them have the answers that they had."""
        if not all(map(index.holds_still, self.further)) or not index.all_still(self.answers):
            return False
        contents, entries = index.contents, index.entries
        for path, content, asked in self.by_file:
            if contents[path] != content and not index.all_still([(each, content) for each in asked]):
                return False
        return all(entries[at] == before or index.all_still(asked) for at, before, asked in self.by_directory)


def identity(reader: Reader, path: str) -> str:
    """What stands for the content of a file: the name that git gives it; "" where there is no such file."""
    known = getattr(reader, "identity", None)
    if known is not None and (name := known(path)) is not None:
        return str(name)
    data = reader.read(path)
    return "" if data is None else name_of(data)


def entries(reader: Reader, directory: str) -> str:
    """A name for what is in a directory; "" where the reader cannot list it."""
    known = getattr(reader, "names_in", None)
    names = known(directory) if known is not None else None
    return "" if names is None else _digest(sorted(names))


def name_of(data: bytes) -> str:
    """The name that git gives to content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def placeless(value: object) -> object:
    """Facts as values that compare equal wherever they stand; 1, 1.0 and True are three things."""
    if isinstance(value, Mapping):
        return tuple((key, placeless(each)) for key, each in value.items())
    if isinstance(value, tuple):
        return tuple(map(placeless, value))
    if is_dataclass(value):
        told = (getattr(value, field.name) for field in fields(value) if field.name not in POSITIONS)
        return (type(value).__name__, *map(placeless, told))
    return value if isinstance(value, frozenset) else repr(value)


def _code(text: str) -> str | None:
    """The syntax tree of a program without positions; None where it cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
