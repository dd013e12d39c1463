"""Dependency files, read with the place of everything they ask for; a constraint is set in the manner of its file.

Nothing is executed or looked up. Lock files, and requirements files that pip-compile or uv wrote, are read but never
edited: what they say follows from other files, by a command that `Requirement.why_not` names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from codemods.edits import Edit, Skip
from codemods.sources.requirement import PACKAGES, Include, Problem, Requirement

__all__ = ["PACKAGES", "Include", "Manifest", "Problem", "Requirement", "read"]


@dataclass(frozen=True, slots=True, eq=False)
class Manifest:
    """One packaging file."""

    path: str
    text: str
    requirements: tuple[Requirement, ...] = ()
    includes: tuple[Include, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def start(self) -> int:
        return 0

    @property
    def end(self) -> int:
        return len(self.text)

    def nodes(self) -> Iterator[Manifest | Requirement]:
        """The file itself, then its requirements in the order in which they stand there."""
        yield self
        yield from self.requirements

    def edits(self, node: object, new: object) -> tuple[Edit, ...] | None:
        """The edit that gives a requirement the constraint `new`, as its place writes it; None: not surely possible."""
        return None

    def label(self, node: object) -> str:
        """Where a requirement stands, without line numbers: `project.dependencies.torch`."""
        if not isinstance(node, Requirement):
            return ""
        return f"{node.place}.{node.package}" if node.place else node.package


def read(path: str, text: str) -> Manifest | Skip:
    """The packaging file of that name."""
    return Manifest(path, text)
