"""What packaging files consist of: requirements, and other files that they include."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from packaging.utils import canonicalize_name

from codemods.sources.manifest.specifiers import Dialect, alternatives, is_native

PACKAGES = (
    *(
        "torch",
        "lightning",
        "pytorch-lightning",
        "lightning-fabric",
        "transformers",
        "accelerate",
        "peft",
        "trl",
        "datasets",
    ),
    *("llamafactory", "axolotl", "python"),
)
"""The distributions whose versions are looked at, and Python itself."""

CONDA = {"pytorch": "torch", "pytorch-gpu": "torch", "pytorch-cpu": "torch"}
"""What conda calls some of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """What one place of a packaging file says about one package, at `text[start:end]`: the whole item, without its
    quotes, its comment and pip's options."""

    KIND: ClassVar[str] = "manifest"
    start: int
    end: int
    package: str
    """The canonical name, conda's names of our packages translated."""
    specs: tuple[str, ...] | None
    """Alternatives, each a PEP 440 specifier set ("" is any version); None where the version cannot be told."""
    written: str
    """The constraint as it is written; "" where there is none."""
    constraint: tuple[int, int]
    """Where it stands, or would stand, in the text of the file."""
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


Entry = Requirement | Include


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a file that holds requirements: `text` is what its format's reader understands from start to end."""

    text: str
    start: int
    end: int
    verbatim: bool = True
    """Whether its offsets are those of the file; else (escapes, concatenation) nothing in it has a place of its own."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text lies in the file."""
        return (self.start + start, self.start + end) if self.verbatim else (self.start, self.end)


def quoted(text: str, start: int, end: int, quote: int, value: str) -> Piece:
    """The string `value`, written at `text[start:end]` with quotation marks of so many characters."""
    start, end = start + quote, end - quote
    return Piece(value, start, end, text[start:end] == value)


@dataclass(frozen=True, slots=True)
class RequirementList:
    """What holds for every requirement of one list or table of a file."""

    place: str = ""
    condition: str = ""
    dialect: Dialect = Dialect.PIP
    locked: bool = False
    why_not: str = ""
    """Why nothing here can be edited. `{package}` stands for the package."""

    def under(self, condition: str) -> RequirementList:
        """The same where one more condition holds; the outer one is what is told."""
        return replace(self, condition=self.condition or condition)


PUT_TOGETHER = "it is put together from parts, or written with escapes"
ADDRESSED = "an address decides its version"


def requirement(
    piece: Piece,
    site: RequirementList,
    name: str,
    item: tuple[int, int],
    constraint: tuple[int, int] | None,
    why_not: str = "",
) -> Requirement:
    """A requirement whose parts lie at these offsets into `piece.text`; without a constraint, an address decides."""
    begin, end = constraint or (item[1], item[1])
    written = piece.text[begin:end]
    package: str = canonicalize_name(name)
    package = CONDA.get(package, package) if site.dialect is Dialect.CONDA else package
    specs = alternatives(written) if constraint else None
    why = site.why_not.replace("{package}", name) or why_not or ("" if constraint else ADDRESSED)
    why = why or ("" if piece.verbatim else PUT_TOGETHER)
    if not why and specs is None:
        why = "what versions it asks for cannot be told"
    if not why and not is_native(written, site.dialect):
        why = f"{site.dialect.value} does not read such a constraint"
    return Requirement(
        *piece.span(*item),
        package=package,
        specs=specs,
        written=written,
        constraint=piece.span(begin, end),
        dialect=site.dialect,
        place=site.place,
        condition=site.condition,
        locked=site.locked,
        why_not=why,
    )


def python(piece: Piece, site: RequirementList) -> Requirement:
    """`requires-python` and its like: a constraint without a name."""
    bare = piece.text.strip()
    begin = piece.text.index(bare)
    return requirement(piece, site, "python", (begin, begin + len(bare)), (begin, begin + len(bare)))


def lines(piece: Piece) -> Iterator[Piece]:
    """A string that lists one requirement per line."""
    position = 0
    for line in piece.text.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        yield Piece(bare, *piece.span(position, position + len(bare)), piece.verbatim)
        position += len(line)
