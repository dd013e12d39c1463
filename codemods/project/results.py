"""What was found in a file before, and by which questions: it is found again while the answers are the same."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from codemods.model.edits import Finding, Skip
from codemods.model.plan import OtherVersions, UnusedSuppression
from codemods.project.dependencies import Asked, Code, Content, Fact, Question, Words, packed
from codemods.sources import files

if TYPE_CHECKING:
    from codemods.project.index import Index


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a look at one file gave, nothing in it having been changed. Plain data."""

    path: str
    read: bool
    """Whether it could be read; `findings` are those of its text as it was."""
    findings: tuple[Finding, ...]
    skips: tuple[Skip, ...]
    unused: tuple[UnusedSuppression, ...]
    other_versions: tuple[OtherVersions, ...]
    asked: tuple[tuple[Asked, str], ...]
    """The questions that led there, each with its answer."""

    def holds(self, index: Index) -> bool:
        """Whether every question is answered as it was."""
        return index.all_still(self.asked)

    def with_questions(self, asked: Iterable[Question], index: Index) -> Remembered:
        """The same with the questions that led there. Of a file that the result names, lines count too."""
        told = repr((self.findings, self.skips, self.unused, self.other_versions))
        kept: set[Question] = set()
        for question in asked:
            if isinstance(question, (Content, Code, Fact, Words)):
                if question.path == self.path:
                    continue  # of a file with another content there is another result
                if posixpath.basename(files.container(question.path)) in told:
                    question = Content(files.container(question.path))
            kept.add(question)
        answers = ((packed(each), index.answer(each)) for each in kept)
        return replace(self, asked=tuple(answers))


class Memory(Protocol):
    """Keeps what was found, by the content of the file, the rules, and how they were to run."""

    def recall(self, path: str, /) -> Remembered | None:
        """What was found in a file of this path and content."""

    def keep(self, remembered: Remembered, /) -> None:
        """Keep it for later."""


class Kept:
    """A memory in memory."""

    def __init__(self, known: Mapping[str, Remembered] = MappingProxyType({})) -> None:
        self.known = known
        self.new: list[Remembered] = []
        """What was not known before."""

    def recall(self, path: str, /) -> Remembered | None:
        """What was found in a file of this path and content."""
        return self.known.get(path)

    def keep(self, remembered: Remembered, /) -> None:
        """Keep it for later."""
        self.new.append(remembered)
