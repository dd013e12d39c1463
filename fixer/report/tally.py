"""What a run comes to, counted once for every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from codemods.edits import Finding, Safety


@dataclass(frozen=True, slots=True)
class Count:
    """Findings by what became of them, or can."""

    findings: int = 0
    fixed: int = 0
    """The fix is part of the plan."""
    fixable: int = 0
    """Not fixed, though the chosen safety covers the fix."""
    unsafe: int = 0
    """Not fixed: the fix needs `--unsafe-fixes`."""
    display: int = 0
    """There is no fix."""

    @property
    def with_fix(self) -> int:
        return self.fixed + self.fixable + self.unsafe


def count(findings: Iterable[Finding], unsafe: frozenset[str]) -> Count:
    """The findings by outcome; `unsafe` are the paths where unsafe fixes are wanted."""
    sorts = Counter(_sort(finding, unsafe) for finding in findings)
    return Count(sum(sorts.values()), sorts["fixed"], sorts["fixable"], sorts["unsafe"], sorts["display"])


def by_rule(findings: Iterable[Finding], unsafe: frozenset[str]) -> dict[str, Count]:
    """The same for each rule, by code."""
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.code, []).append(finding)
    return {code: count(grouped[code], unsafe) for code in sorted(grouped)}


def _sort(finding: Finding, unsafe: frozenset[str]) -> str:
    if finding.applied:
        return "fixed"
    if finding.fix is None or finding.safety is Safety.DISPLAY:
        return "display"
    return "fixable" if finding.safety is Safety.SAFE or finding.path in unsafe else "unsafe"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
