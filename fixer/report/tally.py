"""What a run comes to, counted once for every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from codemods.edits import Consequence, Finding, Safety


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


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by what they cost, the worst first, then by place."""
    return sorted(findings, key=lambda finding: (-finding.consequence, finding.order))


def headline(findings: Iterable[Finding]) -> str:
    """What the findings cost: `3 bugs: 2 train wrong silently, 1 raises; 41 deprecated uses`; empty for none."""
    counted = Counter(finding.consequence for finding in findings)
    silent, raising = counted[Consequence.SILENT], counted[Consequence.RAISES]
    bugs = [
        f"{silent:,} {'trains' if silent == 1 else 'train'} wrong silently" if silent else "",
        f"{raising:,} {'raises' if raising == 1 else 'raise'}" if raising else "",
    ]
    parts = [
        f"{plural(silent + raising, 'bug')}: {', '.join(filter(None, bugs))}" if silent or raising else "",
        plural(counted[Consequence.WARNS], "warning") if counted[Consequence.WARNS] else "",
        plural(counted[Consequence.DEPRECATED], "deprecated use") if counted[Consequence.DEPRECATED] else "",
        plural(counted[Consequence.STYLE], "matter of style", "matters of style") if counted[Consequence.STYLE] else "",
    ]
    return "; ".join(filter(None, parts))


def _sort(finding: Finding, unsafe: frozenset[str]) -> str:
    if finding.applied:
        return "fixed"
    if finding.fix is None or finding.safety is Safety.DISPLAY:
        return "display"
    return "fixable" if finding.safety is Safety.SAFE or finding.path in unsafe else "unsafe"


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
