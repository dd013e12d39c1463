"""What a check may ask about any file, whatever it holds: versions, requirements, strategies, the project around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from codemods.model.edits import Evidence, Lines
from codemods.model.plan import UPGRADE, Target
from codemods.project.index import Index
from codemods.sources.document import Document

if TYPE_CHECKING:
    from codemods.sources.manifest import Requirement


class FileContext:
    """One file as a check sees it."""

    def __init__(self, path: str, text: str, index: Index, strategies: Mapping[str, str] | None = None) -> None:
        self.path, self.text, self.index = path, text, index
        self.strategies = dict(strategies or {})

    @property
    def document(self) -> Document:
        """The file read as what its name says.

        Raises:
            LookupError: if it is only Python, or cannot be read.
        """
        if (document := self.index.document(self.path)) is None:
            raise LookupError(f"{self.path} is no document")
        return document

    def shown_at(self, offset: int, why: str) -> Evidence:
        """The line of this file that holds an offset of its text, as what shows a claim."""
        return Evidence(self.path, Lines(self.text).position(offset)[0], why)

    def shown_in(self, path: str, words: str, why: str) -> Evidence:
        """The first line of another file that holds some words, as what shows a claim."""
        text = self.index.text(path) or ""
        return Evidence(path, text.count("\n", 0, max(text.find(words), 0)) + 1, why)

    def target(self, package: str) -> Target | None:
        """The versions of a package that this file's project allows; None: unknown."""
        return self.index.target(self.path, package)

    def upgrade(self, package: str) -> str | None:
        """The release of a package that `fixer upgrade` carries this file's project to; None: it does not."""
        target = self.target(package)
        return target.spec.removeprefix("==") if target is not None and target.source == UPGRADE else None

    def kept(self, package: str) -> Target | None:
        """What a notebook installs in place of the release to which `fixer upgrade` carries its project; else None."""
        carried = self.index.overrides.get(package)
        target = self.target(package)
        is_carried = isinstance(carried, Target) and carried.source == UPGRADE
        return target if is_carried and target is not None and target.source != UPGRADE else None

    def requirements(self, package: str) -> list[tuple[str, Requirement]]:
        """Every mention of a package in the packaging files of this file's project, each with its path."""
        return self.index.requirements(self.path, package)
