"""Why the rules say what they say about a file, or a line of it, and what becomes of it: `fixer explain FILE:LINE`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from shlex import quote

from codemods.engine.examination import ExaminedUnit, Spoken, examine
from codemods.model.edits import Finding, Safety, Skip, SkipReason
from codemods.project.index import Index
from codemods.rules.rule import Rule
from codemods.sources import files
from fixer.errors import Refusal
from fixer.project.configuration import Settings
from fixer.project.discover import arguments_inside, attributed, marked_generated, root_of, select
from fixer.project.globs import matcher
from fixer.project.worktree import WorkTree
from fixer.run.execute import Order, Progress
from fixer.run.request import Outcome, Request, configuration, plan_directory


class Becomes(str, Enum):
    """What becomes of a finding."""

    FIXED = "fixed"
    UNSAFE = "unsafe"
    BY_HAND = "by-hand"
    NOT_TAKEN = "not-taken"
    SUPPRESSED = "suppressed"
    NOT_SELECTED = "not-selected"
    OTHER_VERSIONS = "other-versions"
    EXPECTED = "expected"
    LEFT_OUT = "left-out"


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """A file, a line of it, and, in a notebook, the cell that the line is counted in."""

    path: str
    line: int | None = None
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A finding with what becomes of it, and why."""

    finding: Finding
    becomes: Becomes
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known about a place."""

    root: Path
    path: str
    place: AskedPlace
    data: bytes
    judgements: tuple[Judgement, ...]
    left_out: tuple[str, ...]
    """Why a check of the project does not report this file, as sentences."""
    units: tuple[ExaminedUnit, ...]
    rules: tuple[Rule, ...]
    unselected: frozenset[str]
    """The codes of the rules that the settings leave out for this file."""
    skips: tuple[Skip, ...]


def explain_place(
    place: AskedPlace, request: Request, here: Path, rules: Sequence[Rule], progress: Progress
) -> Explanation:
    """What every rule says about a place, and what becomes of that.

    Raises:
        Refusal: if there is no such file or line, or it is not a kind of file that is read.
    """
    root = root_of((place.path,), here)
    path = _inside(place, root, here)
    request = replace(request, paths=(place.path,))
    outcome = plan_directory(request, here, fix=True, progress=progress)
    if outcome.problems:
        raise Refusal(outcome.problems[0])
    reader = WorkTree(root)
    data = reader.read(path)
    settings = configuration(request, reader, root, here)(path.rpartition("/")[0])
    order = outcome.parts[0][0] if outcome.parts else None
    strategies = dict(order.strategies) if order is not None else dict(settings.strategies)
    overrides = order.overrides if order is not None else dict(settings.targets)
    selected = {rule.code for rule in (order.rules if order is not None else rules)}
    asked_for = (place.cell, place.line) if place.line is not None else None
    units = examine(path, Index(reader, overrides), rules, strategies, asked_for)
    _check_line(place, path, units)
    include = request.include_vendored or outcome.settings.include_vendored
    left_out = dict(_left_out(path, data or b"", reader, settings, include_vendored=include))
    unread = next((why for why, always in left_out.items() if always), "")
    maker = _Judging(path, settings, order, outcome, unread, here)
    judgements = (maker.judged(each) for unit in units for each in unit.spoken if _is_about(each.finding, place, unit))
    skips = dict.fromkeys((*outcome.plan.skips, *(skip for unit in units for skip in unit.skips)))
    return Explanation(
        root,
        path,
        place,
        data or b"",
        tuple(judgements),
        tuple(left_out),
        tuple(units),
        tuple(rules),
        frozenset(rule.code for rule in rules if rule.code not in selected),
        tuple(skips),
    )


def _inside(place: AskedPlace, root: Path, here: Path) -> str:
    """The path relative to the root."""
    if (here / place.path).is_dir():
        raise Refusal(f"{place.path}: is a directory; name a file, such as train.py:12")
    inside, problems = arguments_inside((place.path,), root, here)
    if problems:
        raise Refusal(problems[0])
    return inside[0]


def _check_line(place: AskedPlace, path: str, units: Sequence[ExaminedUnit]) -> None:
    """Refuse a line that the file does not have."""
    readable = [unit for unit in units if not (unit.skips and not unit.lines)]
    if place.line is None or not readable or any(unit.holds_line for unit in units):
        return
    if path.endswith(files.NOTEBOOK):
        if place.cell is None:
            raise Refusal(f"{place.path}:{place.line}: name the cell too, as in {place.path}:'cell 3:{place.line}'")
        raise Refusal(f"{place.path}: there is no line {place.line} in a code cell {place.cell}")
    if place.cell is not None:
        raise Refusal(f"{place.path}: only a notebook has cells")
    raise Refusal(f"{place.path}:{place.line}: the file ends at line {max(unit.lines for unit in readable)}")


def _is_about(finding: Finding, place: AskedPlace, unit: ExaminedUnit) -> bool:
    """Whether a finding, the statement that it is in, or what shows it is on the line."""
    if place.line is None:
        return True
    there = finding.reported
    if finding.cell != place.cell:
        return False
    spans = [(there.line, there.end_line)]
    if place.cell is None:
        spans.append(finding.lines)
    shown_by = any(each.line == place.line for each in finding.evidence if each.path == finding.path)
    return any(first <= place.line <= last for first, last in spans) or (shown_by and place.cell is None)


def _left_out(
    path: str, data: bytes, reader: WorkTree, settings: Settings, *, include_vendored: bool
) -> Iterator[tuple[str, bool]]:
    """Why a check of the whole project does not report a file, and whether one that names it does not either."""
    for pattern in settings.exclude:
        if matcher([pattern])(path):
            yield f"`exclude` leaves it out: the pattern `{pattern.removeprefix('**/')}` covers it", True
            return
    if path not in reader.listing.paths:
        yield "git ignores it, or its directory is not walked: only a check that names it reads it", False
    if include_vendored:
        return
    chosen = select(
        lambda: [path],
        [""],
        is_file=lambda _: False,
        excluded=lambda _: False,
        include_vendored=False,
        vendored=lambda paths: attributed(paths, at=reader.root),
    )
    if chosen.vendored:
        yield "it counts as vendored or generated: only a check that names it, or --include-vendored, reads it", False
    if marked_generated(data):
        yield "its head says that a program wrote it: only --include-vendored reads it", True


@dataclass(frozen=True, slots=True)
class _Judging:
    """Says what becomes of the findings of one file."""

    path: str
    settings: Settings
    order: Order | None
    outcome: Outcome
    unread: str
    """Why no check reports the file; empty: one does that names it."""
    here: Path

    def judged(self, spoken: Spoken) -> Judgement:
        """A finding with what becomes of it. The first reason that the run meets is the one that is told."""
        becomes, why = self._silence(spoken) or self._fate(spoken)
        return Judgement(spoken.finding, becomes, why)

    def _silence(self, spoken: Spoken) -> tuple[Becomes, str] | None:
        """Why a finding is not reported; None: it is."""
        finding, order = spoken.finding, self.order
        if order is None or self.unread:
            return Becomes.LEFT_OUT, f"not reported: {self.unread or 'the settings leave the file out'}"
        if all(rule.code != finding.code for rule in order.rules):
            for pattern, codes in self.settings.per_file_ignores:
                if finding.code.startswith(tuple(codes)) and matcher([pattern])(self.path):
                    return Becomes.NOT_SELECTED, f"not reported: `per-file-ignores` leaves it out{self._where()}"
            return Becomes.NOT_SELECTED, f"not reported: `select` or `ignore` leaves {finding.code} out{self._where()}"
        if spoken.expected:
            return Becomes.EXPECTED, "not reported: the code around it expects the error or the warning"
        if spoken.suppressed is not None:
            return Becomes.SUPPRESSED, f"not reported: the comment at line {spoken.suppressed} silences it"
        if not order.wanted(finding):
            word = str(finding.consequence)
            return Becomes.NOT_SELECTED, f"not reported: `select` or `ignore` leaves out what is {word}{self._where()}"
        if other := finding.unaffected:
            applies = f"applies to {other.package} {other.affected}"
            found = f"here {other.package} is {other.allowed.removeprefix('==')} ({other.source})"
            return Becomes.OTHER_VERSIONS, f"not reported: it {applies}; {found}"
        return None

    def _fate(self, spoken: Spoken) -> tuple[Becomes, str]:
        """What `fixer apply` does about a finding that is reported."""
        finding = spoken.finding
        page = f"`fixer explain {finding.code}` says more"
        if finding.fix is None:
            return Becomes.BY_HAND, f"to decide by hand: {spoken.unfixed or 'there is no fix'}; {page}"
        others = sorted({files.container(path) for path in finding.fix.paths} - {self.path})
        also = f"also changes {', '.join(others)}"
        named = " ".join(quote(os.path.relpath(self.outcome.root / path, self.here)) for path in (self.path, *others))
        there = [each for each in self.outcome.plan.findings if self._same(each, finding)]
        if any(each.applied for each in there):
            how = "the fix is safe" if finding.safety is Safety.SAFE else "the fix is unsafe, and these are switched on"
            return Becomes.FIXED, f"`fixer apply {named}` fixes it: {how}"
        if not self.outcome.wanted(finding):
            unsafe = f"the fix is unsafe{f' and {also}' if others else ''}"
            return Becomes.UNSAFE, f"{unsafe}: `fixer apply --unsafe-fixes {named}` takes it; {page}"
        if others:
            return Becomes.FIXED, f"the fix {also}: `fixer apply {named}` takes it"
        if not there:
            return Becomes.FIXED, f"after the other fixes of `fixer apply {named}` it is not found any more"
        why = next((skip.detail for skip in self.outcome.plan.skips if skip.reason in _UNTAKEN), "")
        return Becomes.NOT_TAKEN, f"`fixer apply` does not take its fix{f': {why}' if why else ''}"

    def _same(self, one: Finding, other: Finding) -> bool:
        return (one.code, one.fingerprint) == (other.code, other.fingerprint)

    def _where(self) -> str:
        return f" ({', '.join(self.settings.sources)})" if self.settings.sources else ""


_UNTAKEN = frozenset({SkipReason.UNSETTLED, SkipReason.RULE_FAILED})
