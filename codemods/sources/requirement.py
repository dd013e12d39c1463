"""What packaging files consist of: requirements, files that they include, and what in them cannot be understood."""

from __future__ import annotations

from dataclasses import dataclass

from codemods.sources.specifiers import Dialect

PACKAGES = ("torch", "lightning", "pytorch-lightning", "transformers", "accelerate", "peft", "trl", "python")
"""The distributions whose versions are looked at, and Python itself."""

CONDA = {"pytorch": "torch", "pytorch-gpu": "torch", "pytorch-cpu": "torch"}
"""What conda calls some of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """What one place of a packaging file says about one package, at `text[start:end]`: the whole item, without its
    quotes, its comment and pip's options."""

    start: int
    end: int
    package: str
    """The canonical name, conda's names of our packages translated."""
    specs: tuple[str, ...] | None
    """Alternatives, each a PEP 440 specifier set ("" is any version); None where the version cannot be told."""
    written: str
    """The constraint as it is written, at `text[constraint[0]:constraint[1]]`; "" where there is none."""
    constraint: tuple[int, int]
    dialect: Dialect = Dialect.PIP
    place: str = ""
    """The table or list that it stands in, such as `project.dependencies`; "" in a requirements file."""
    condition: str = ""
    """What must hold for it to count (a marker, an extra, a group); "" if it always counts."""
    locked: bool = False
    """Whether a lock file says so."""
    why_not: str = ""
    """Why the constraint cannot be edited; "" if it can."""

    @property
    def editable(self) -> bool:
        return not self.why_not


@dataclass(frozen=True, slots=True)
class Include:
    """Another requirements file that counts as part of this one."""

    path: str
    """As written, relative to the directory of the including file."""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about one of `PACKAGES` that cannot be understood."""

    start: int
    end: int
    message: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a file that holds requirements: `text` as its format's reader understands it, from `text[start:end]`."""

    text: str
    start: int
    end: int
    verbatim: bool = True
    """Whether the file holds exactly that text there; else (escapes, concatenation) nothing in it can be edited."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text lies in the file."""
        return (self.start + start, self.start + end) if self.verbatim else (self.start, self.end)


Entry = Requirement | Include | Problem
