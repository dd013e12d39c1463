"""What was found in a file before, and by which questions: it is found again while the answers are the same."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from codemods.model.edits import Finding, Skip
from codemods.model.plan import OtherVersions, SuppressedFinding, UnusedSuppression
from codemods.project.dependencies import Answered, Code, Content, Fact, Noted, Question, Words
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
    suppressed: tuple[SuppressedFinding, ...]
    other_versions: tuple[OtherVersions, ...]
    asked: Answered = field(default_factory=Answered)
    """The questions that led there, each with its answer; those that led to other results as well apart."""

    def holds(self, index: Index) -> bool:
        """Whether every question is answered as it was."""
        return index.holds_still(self.asked)

    def with_questions(self, asked: Iterable[Noted], index: Index) -> Remembered:
        """The same with the questions that led there. Of a file that the result names, lines count too."""
        told = repr((self.findings, self.skips, self.unused, self.other_versions))

        def named(path: str) -> bool:
            return path != self.path and posixpath.basename(files.container(path)) in told

        kept: set[Question] = set()
        shared: list[Answered] = []
        for each in asked:
            if isinstance(each, frozenset):
                shared.append(index.answered(each))
                kept.update(Content(files.container(path)) for path in index.paths_asked(each) if named(path))
            elif not isinstance(each, (Content, Code, Fact, Words)):
                kept.add(each)
            elif each.path != self.path:  # of a file with another content there is another result
                kept.add(Content(files.container(each.path)) if named(each.path) else each)
        return replace(self, asked=Answered.of(kept, shared, index))


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
