"""What was found in a file before, and by which questions: it is found again while the answers are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from codemods.model.edits import Finding, Skip
from codemods.model.plan import OtherVersions, UnusedSuppression
from codemods.project.dependencies import Question

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
    asked: tuple[tuple[Question, str], ...]
    """The questions that led there, each with its answer."""

    def holds(self, index: Index) -> bool:
        """Whether every question is answered as it was."""
        return all(index.answer(question) == answer for question, answer in self.asked)


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
