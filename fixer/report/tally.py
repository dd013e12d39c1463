"""What a run comes to, counted once for every report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from codemods.model.edits import Consequence, Finding, Safety
from codemods.model.names import NEWEST
from codemods.model.visible import visible_line

if TYPE_CHECKING:
    from codemods.model.plan import Plan


NAMED = 3
"""Projects whose versions are named before the rest is counted."""


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


@dataclass(frozen=True, slots=True)
class OtherVersionsTally:
    """Findings that apply to other versions of a package than a project allows."""

    findings: int
    package: str
    allowed: str
    """A specifier set."""
    source: str
    """Where that is from."""
    target: str
    """What to give with `--target` to see them, such as `torch=2.13`."""

    @property
    def sentence(self) -> str:
        """For people."""
        apply, them = ("applies", "it") if self.findings == 1 else ("apply", "them")
        return (
            f"{plural(self.findings, 'finding')} {apply} to other versions than {self.package} {shown(self.allowed)} "
            f"({self.source}); run with --target {quote(self.target)} to see {them}"
        )


def other_versions(plan: Plan) -> list[OtherVersionsTally]:
    """What was left out because of versions, by the versions that the projects allow; the most first."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for other in plan.other_versions:
        why = other.why
        grouped.setdefault((why.package, why.allowed, why.source), []).append(why.affected)
    found = [OtherVersionsTally(len(ranges), *key, _target(key[0], ranges)) for key, ranges in grouped.items()]
    return sorted(found, key=lambda each: (-each.findings, each.package, each.allowed, each.source))


def in_other_versions(plan: Plan, *, few: bool = True) -> Iterator[str]:
    """A sentence for each project whose versions rule findings out; `few`: the rest of them together."""
    groups = other_versions(plan)
    named = groups[:NAMED] if few else groups
    yield from (f"{group.sentence}." for group in named)
    if rest := groups[len(named) :]:
        number = plural(sum(group.findings for group in rest), "more finding")
        yield f"{number} in {plural(len(rest), 'project')} of yet other versions (--verbose names them)."


def _target(package: str, ranges: list[str]) -> str:
    """The versions of a package in which most of what is found there applies."""
    from codemods.project.ranges import verdict

    (affected, _), *_ = Counter(ranges).most_common(1)
    newest = NEWEST.get(package)
    return f"{package}={newest}" if newest and verdict(f"=={newest}.*", affected)[1] else f"{package}{affected}"


def shown(spec: str) -> str:
    """A specifier set, for people: `2.4.1`, `>=2.4,<3`."""
    alternatives = spec.replace(" || ", " or ")
    if "," not in alternatives and " or " not in alternatives:
        alternatives = alternatives.removeprefix("==")
    return alternatives or "(any version)"


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by what they cost, the worst first; of each cost those that are certain first, then by place."""
    return sorted(
        findings, key=lambda finding: (-finding.weight, -finding.certainty, -finding.consequence, finding.order)
    )


def copies(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The findings, the worst first; those that copies of one function hold in several files together."""
    grouped: dict[tuple[object, ...], list[Finding]] = {}
    for finding in worst_first(findings):
        key = (finding.copy or finding.fingerprint, finding.claim, finding.cost, finding.safety)
        grouped.setdefault(key, []).append(finding)
    return list(grouped.values())


def headline(findings: Iterable[Finding]) -> str:
    """What the findings cost: `3 bugs: 2 train wrong silently, 1 raises; 41 deprecated uses`; empty for none.

    What is only possible is told apart.
    """
    told = list(findings)
    counted = Counter(finding.consequence for finding in told if finding.is_certain)
    possible = sum(not finding.is_certain for finding in told)
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
    if possible:
        parts.append(f"{possible:,} more possible" if any(parts) else plural(possible, "possible finding"))
    return "; ".join(filter(None, parts))


def _sort(finding: Finding, unsafe: frozenset[str]) -> str:
    if finding.applied:
        return "fixed"
    if finding.fix is None or finding.safety is Safety.DISPLAY:
        return "display"
    return "fixable" if finding.safety is Safety.SAFE or finding.path in unsafe else "unsafe"


def is_empty(plan: Plan) -> bool:
    """Whether a plan holds nothing that a person should hear about."""
    return not (plan.findings or plan.skips or plan.unused or plan.suppressed or plan.other_versions)


def unused_suppressions(plan: Plan) -> Iterator[str]:
    """A sentence for each comment that silences nothing."""
    for one in plan.unused:
        if not one.code:
            why = "this suppression names no rule and silences nothing: write `# fixer: ignore[CODE]`"
        elif not one.known:
            meant = f"; did you mean {one.close}?" if one.close else ""
            why = f"this suppression silences nothing: there is no rule {one.code}{meant}"
        else:
            why = f"the suppression of {one.code} silences nothing"
        yield f"{visible_line(one.path)}:{one.line}: {why}"


def files_looked_at(plan: Plan) -> str:
    """How many files there were, and how many of them the prefilter left."""
    return f"{plural(plan.files_seen, 'file')} looked at, {plan.files_read:,} read closely"


def nothing_found(plan: Plan) -> str:
    """The summary of a run without findings; a file that was skipped may hold what nobody looked for."""
    skipped = len({skip.path for skip in plan.skips})
    if not skipped:
        return f"Nothing found ({files_looked_at(plan)})."
    were = f"{plural(skipped, 'file')} {'was' if skipped == 1 else 'were'} skipped"
    if skipped >= plan.files_seen:
        return f"Nothing could be judged: {were}."
    return f"Nothing found, but {were} ({files_looked_at(plan)})."


def plural(number: int, noun: str, many: str | None = None) -> str:
    """`1 file`, `2 files`."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
