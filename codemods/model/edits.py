"""What a change is: safety levels, edits, fixes, findings, skips, and the laws by which edits are taken and spliced.

Offsets are 0-based character offsets into a file's decoded text (without a byte-order mark); an edit replaces
`text[start:end]`. Standard library only.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codemods.model.visible import visible_line


class Safety(enum.IntEnum):
    """How far a fix may be trusted; ordered, so `finding.safety >= Safety.SAFE` reads as it should."""

    DISPLAY = 0
    """Report only: there is no fix, or a person must choose."""
    UNSAFE = 1
    """Changes numerics or behaviour beyond the bug, or was never run; needs `--unsafe-fixes`."""
    SAFE = 2
    """Proved by running: the documented symptom before, training after."""

    def __str__(self) -> str:
        return self.name.lower()


class Consequence(enum.IntEnum):
    """What a finding costs at the place where it stands; ordered, the worst last."""

    STYLE = 0
    """Harmless here, as far as the code shows."""
    DEPRECATED = 1
    """Works, and will be removed."""
    WARNS = 2
    """Prints a warning and trains right."""
    RAISES = 3
    """Ends with an exception."""
    SILENT = 4
    """Trains wrong and says nothing."""

    def __str__(self) -> str:
        return self.name.lower()


class Certainty(enum.IntEnum):
    """Whether every condition of a finding's claim is shown by the code; ordered, the surer last."""

    POSSIBLE = 0
    """At least one condition is unknown, because of a place that the finding names."""
    CERTAIN = 1

    def __str__(self) -> str:
        return self.name.lower()


class SkipReason(enum.Enum):
    """Why a file was left alone."""

    UNREADABLE = "unreadable"
    UNDECODABLE = "undecodable"
    UNPARSABLE = "unparsable"
    NEWER_SYNTAX = "newer-syntax"
    TOO_LARGE = "too-large"
    TOO_DEEP = "too-deep"
    NO_ROUND_TRIP = "no-round-trip"
    UNSETTLED = "unsettled"
    RULE_FAILED = "rule-failed"
    UNSAFE_PATH = "unsafe-path"
    CHANGED = "changed-while-running"
    OUTDATED = "changed-since-planned"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Skip:
    """A file, or a rule on a file, that was not handled, and why."""

    path: str
    reason: SkipReason
    detail: str = ""


class Unreadable(Exception):
    """Raised where a part of a file turns out to be unreadable while it is looked at."""

    def __init__(self, skip: Skip) -> None:
        super().__init__(skip.detail)
        self.skip = skip


@dataclass(frozen=True, slots=True)
class Need:
    """A name that replaced code uses and that an import must bind: `import module` or `from module import name`."""

    module: str
    name: str | None = None
    scope: str = field(default="", compare=False)
    """Qualified name of the scope that uses it; the import goes into the narrowest one around the use that already
    imports the package.
    """

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]

    @property
    def statement(self) -> str:
        return f"from {self.module} import {self.name}" if self.name else f"import {self.module}"


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace `text[start:end]` of the file `path` by `text`.

    `shared` marks an edit that several fixes may contribute alike (an import they all need): equal shared edits do
    not disturb each other.
    """

    path: str
    start: int
    end: int
    text: str
    shared: bool = False

    def touches(self, other: Edit) -> bool:
        """Whether the two cannot both be taken in one round: overlapping or adjacent spans of one file."""
        if self.path != other.path or (self.shared and self == other):
            return False
        return self.start <= other.end and other.start <= self.end


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that land together or not at all, possibly in several files."""

    title: str
    edits: tuple[Edit, ...]

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(edit.path for edit in self.edits)


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a file: 0-based offsets, and 1-based lines and columns (columns count characters)."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """A place that shows what a finding claims about the code around it."""

    path: str
    line: int
    """1-based; in a notebook, of the unit that `path` names."""
    why: str
    """What that line shows."""


@dataclass(frozen=True, slots=True, order=True)
class Unaffected:
    """Why a finding does not count: the project allows no version of a package that has the bug."""

    package: str
    allowed: str
    """A specifier set."""
    source: str
    """Where that is from."""
    affected: str
    """The versions that have the bug."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One instance of a rule's bug.

    `place` lies in the text of the round in which the finding was made; `origin` in the file as it was read. They are
    equal in the first round.
    """

    code: str
    name: str
    path: str
    place: Place
    claim: str
    """What is wrong, if all of it is so."""
    safety: Safety
    fix: Fix | None = None
    strategy: str | None = None
    strategies: tuple[str, ...] = ()
    bites: Mapping[str, str] = field(default_factory=dict)
    consequence: Consequence = Consequence.STYLE
    certainty: Certainty = Certainty.CERTAIN
    evidence: tuple[Evidence, ...] = ()
    doubts: tuple[Evidence, ...] = ()
    """The places that may make the claim untrue."""
    cautions: tuple[Evidence, ...] = ()
    """The places that may make the fix wrong; without a fix, those that surely would."""
    fingerprint: str = ""
    copy: str = ""
    """The fingerprint without the path: equal where other files hold a copy of the same function."""
    applied: bool = False
    origin: Place | None = None
    lines: tuple[int, int] = (0, 0)
    """First and last line of the statement (or block header) that the finding belongs to."""
    cell: int | None = None
    """In a notebook, the cell (from 1) in which `reported` counts lines and columns."""
    unaffected: Unaffected | None = None
    """Set: it does not count here, and has no fix."""

    @property
    def reported(self) -> Place:
        """Where the finding lies in the file as it was read."""
        return self.origin or self.place

    @property
    def message(self) -> str:
        """The claim, with the places that may make it untrue, or the fix wrong."""
        parts = [self.claim]
        parts += [f"not certain: {_listed(self.doubts)}"] if self.doubts else []
        parts += [f"{'look first' if self.fix else 'no fix'}: {_listed(self.cautions)}"] if self.cautions else []
        return "; ".join(parts)

    @property
    def shown_by(self) -> tuple[Evidence, ...]:
        """The evidence of what is claimed: what makes it uncertain, or the fix, apart."""
        return tuple(each for each in self.evidence if each not in self.doubts and each not in self.cautions)

    @property
    def is_certain(self) -> bool:
        return self.certainty is Certainty.CERTAIN

    @property
    def cost(self) -> str:
        """The consequence in words: `silent`, or `possibly silent`."""
        return str(self.consequence) if self.is_certain else f"possibly {self.consequence}"

    @property
    def weight(self) -> Consequence:
        """What reports rank the finding by: a bug that is only possible weighs no more than a warning."""
        return self.consequence if self.is_certain else min(self.consequence, Consequence.WARNS)

    @property
    def location(self) -> str:
        """`path:line`, in a notebook `path:cell 3:line`."""
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{visible_line(self.path)}:{cell}{self.reported.line}"

    @property
    def order(self) -> tuple[str, int, int, str]:
        return (self.path, self.place.start, self.place.end, self.code)


_MOST_PLACES = 2
"""Unknown places that a message names before it counts the rest."""


def _listed(places: Sequence[Evidence]) -> str:
    """`why (path:line); why (path:line); 3 more`."""
    told = list(dict.fromkeys(f"{each.why} ({visible_line(each.path)}:{each.line})" for each in places))
    more = [f"{len(told) - _MOST_PLACES} more"] if len(told) > _MOST_PLACES else []
    return "; ".join(told[:_MOST_PLACES] + more)


def trim(edit: Edit, text: str) -> Edit:
    """The same change without the prefix and suffix that `edit` shares with the text it replaces.

    Line ends are never torn: of `\\r\\n` both characters stay on one side.
    """
    old, new = text[edit.start : edit.end], edit.text
    limit = min(len(old), len(new))
    head = 0
    while head < limit and old[head] == new[head]:
        head += 1
    if head and old[head - 1] == "\r" and (old[head : head + 1] == "\n" or new[head : head + 1] == "\n"):
        head -= 1
    tail = 0
    while tail < limit - head and old[len(old) - 1 - tail] == new[len(new) - 1 - tail]:
        tail += 1
    if (
        tail
        and old[len(old) - tail] == "\n"
        and (old[len(old) - tail - 1 : len(old) - tail] == "\r" or new[len(new) - tail - 1 : len(new) - tail] == "\r")
    ):
        tail -= 1
    return Edit(edit.path, edit.start + head, edit.end - tail, new[head : len(new) - tail], edit.shared)


def whole_lines(edit: Edit, text: str) -> Edit:
    """Slide a pure insertion or deletion back so that it covers whole lines, where that changes nothing.

    Trimming a statement inserted before an equal prefix can leave an edit that starts in the middle of a line; the
    result is the same text, but positions and hunks read worse.
    """
    if edit.start == edit.end and edit.text:
        moved, start = edit.text, edit.start
        while start > 0 and moved[-1] == text[start - 1] and moved[-1] != "\n":
            moved, start = moved[-1] + moved[:-1], start - 1
        if (start == 0 or text[start - 1] == "\n") and moved.endswith("\n"):
            return Edit(edit.path, start, start, moved, edit.shared)
    if not edit.text and edit.start < edit.end:
        start, end = edit.start, edit.end
        while start > 0 and text[start - 1] == text[end - 1] and text[start - 1] != "\n":
            start, end = start - 1, end - 1
        if (start == 0 or text[start - 1] == "\n") and text[end - 1] == "\n":
            return Edit(edit.path, start, end, "", edit.shared)
    return edit


def select(findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
    """Split findings that have a fix into (taken, deferred) such that no two taken fixes touch.

    The earlier one wins, by position, then code: the outcome does not depend on the order given.
    """
    taken: list[Finding] = []
    deferred: list[Finding] = []
    edits: dict[str, list[Edit]] = {}
    for finding in sorted(findings, key=lambda f: (f.order, f.message, f.fix.edits if f.fix else ())):
        if finding.fix is None:
            continue
        if any(edit.touches(old) for edit in finding.fix.edits for old in _near(edit, edits.get(edit.path, ()))):
            deferred.append(finding)
        else:
            taken.append(finding)
            for edit in finding.fix.edits:
                insort(edits.setdefault(edit.path, []), edit)
    return taken, deferred


def _near(edit: Edit, taken: Sequence[Edit]) -> Iterator[Edit]:
    """Those of the sorted, disjoint `taken` that may touch `edit`, last first."""
    index = bisect_right(taken, (edit.path, edit.end), key=lambda e: (e.path, e.start))
    while index > 0:
        index -= 1
        yield taken[index]
        if taken[index].end < edit.start:
            return


def splice(text: str, edits: Iterable[Edit]) -> str:
    """`text` with non-touching `edits` (all of one file) applied; equal edits count once.

    Raises:
        ValueError: if two edits overlap or an edit lies outside the text.
    """
    parts: list[str] = []
    position = 0
    for edit in sorted(set(edits)):
        if edit.start < position or edit.end > len(text) or edit.end < edit.start:
            raise ValueError(f"edit {edit.start}:{edit.end} of {edit.path} overlaps another or lies outside the text")
        parts += (text[position : edit.start], edit.text)
        position = edit.end
    parts.append(text[position:])
    return "".join(parts)


def map_back(offset: int, edits: Sequence[Edit], *, end: bool = False) -> int:
    """Where `offset` of the spliced text lay before `edits` (sorted, without doubles) were applied.

    An offset inside inserted text maps to the start of what that text replaced; the end of a span, to its end.
    """
    shift = 0
    for edit in edits:
        begin = edit.start + shift
        if offset - end < begin:
            break
        if offset - end < begin + len(edit.text):
            return edit.end if end else edit.start
        shift += len(edit.text) - (edit.end - edit.start)
    return offset - shift


class Lines:
    """Offsets as lines and columns."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """The line and column of an offset, from 1."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def place(self, start: int, end: int) -> Place:
        """The span of two offsets."""
        return Place(start, end, *self.position(start), *self.position(end))
