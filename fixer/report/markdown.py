"""The text of a pull request: what, why, evidence, how to review, what was left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from codemods import __version__
from codemods.model.edits import Finding, Safety
from codemods.model.plan import Plan
from codemods.model.visible import visible, visible_line
from fixer.report.tally import by_rule, count, headline, plural, worst_first

if TYPE_CHECKING:
    from codemods.rules.rule import Rule

LISTED = 100
"""Places named in full; the rest is counted."""


def pull_request(
    plan: Plan,
    rules: Mapping[str, Rule],
    *,
    unsafe: frozenset[str],
    commits: Sequence[tuple[str, str]] = (),
    branch: str | None = None,
    base: str | None = None,
    where: str = "",
) -> str:
    """A title and a body in Markdown; the arguments are those of `title` and `body`."""
    applied = [finding for finding in plan.findings if finding.applied]
    text = body(plan, rules, unsafe=unsafe, commits=commits, branch=branch, base=base)
    return f"# {title(applied, where)}\n\n{text}"


def body(
    plan: Plan,
    rules: Mapping[str, Rule],
    *,
    unsafe: frozenset[str],
    commits: Sequence[tuple[str, str]] = (),
    branch: str | None = None,
    base: str | None = None,
    verification: str = "",
) -> str:
    """What is said below the title.

    Args:
        unsafe: the paths where unsafe fixes were wanted.
        commits: (id, subject) of each commit, oldest first; an empty id is left out.
        branch, base: their names, where there is a branch.
        verification: a section about what came of running the code.
    """
    applied = [finding for finding in worst_first(plan.findings) if finding.applied]
    sections = [
        list(_what(applied)),
        list(_why(applied, rules)),
        list(_evidence(applied)),
        [verification.strip()] if verification.strip() else [],
        list(_review(commits, branch, base)) if applied else [],
        list(_switching_off(applied)),
        list(_left(plan, unsafe)),
        [f"Made with fixer {__version__}."],
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def title(applied: Sequence[Finding], where: str = "") -> str:
    """`Fix 5 mixed-precision and gradient-flow bugs (AMP001, PL001)`, with what of a split plan it is about."""
    if not applied:
        return "Nothing to fix"
    codes = sorted({finding.code for finding in applied})
    named = ", ".join(codes) if len(codes) <= 4 else f"{len(codes)} rules"
    return f"Fix {plural(len(applied), 'mixed-precision or gradient-flow bug')}{where and f' {where}'} ({named})"


def _what(applied: Sequence[Finding]) -> Iterator[str]:
    if not applied:
        return
    yield "## What\n"
    yield f"{headline(applied)}.\n"
    yield "| rule | places | files | safety |"
    yield "|---|---:|---:|---|"
    for code in sorted({finding.code for finding in applied}):
        mine = [finding for finding in applied if finding.code == code]
        files = len({finding.path for finding in mine})
        yield f"| {code} {mine[0].name} | {len(mine)} | {files} | {min(finding.safety for finding in mine)} |"


def _why(applied: Sequence[Finding], rules: Mapping[str, Rule]) -> Iterator[str]:
    codes = sorted({finding.code for finding in applied} & rules.keys())
    if codes:
        yield "## Why\n"
    for code in codes:
        rule = rules[code]
        more = f" ([more]({rule.references[0]}))" if rule.references else ""
        yield f"- **{code}**: {rule.summary.rstrip('.')}.{more}"


def _evidence(applied: Sequence[Finding]) -> Iterator[str]:
    if not applied:
        return
    yield "## Evidence\n"
    for finding in applied[:LISTED]:
        yield f"- {_place(finding)}"
    if len(applied) > LISTED:
        yield f"- and {len(applied) - LISTED:,} more"


def _review(commits: Sequence[tuple[str, str]], branch: str | None, base: str | None) -> Iterator[str]:
    yield "## How to review\n"
    if commits:
        yield f"One commit per rule; `git log -p {base}..{branch}` shows them:\n"
        yield from (f"- {oid[:10]} {code_span(subject)}".replace("-  ", "- ") for oid, subject in commits)
        yield ""
    yield "A *safe* fix repairs the bug and changes nothing else. An *unsafe* one may also change numerics or"
    yield "behaviour: read it with the training in mind. `fixer explain CODE` says why a rule speaks."


def _switching_off(applied: Sequence[Finding]) -> Iterator[str]:
    if not applied:
        return
    code = min(finding.code for finding in applied)
    yield "## How to switch a rule off\n"
    yield f"For a line: `# fixer: ignore[{code}]` at its end. For a file: `# fixer: ignore-file[{code}]`. For good:"
    yield f'`ignore = ["{code}"]` under `[tool.fixer]` in `pyproject.toml`. The next run leaves it out of this branch.'


def _left(plan: Plan, unsafe: frozenset[str]) -> Iterator[str]:
    total = count(plan.findings, unsafe)
    if not (total.fixable or total.unsafe or total.display or plan.skips):
        return
    yield "## What was left\n"
    for code, counted in by_rule(plan.findings, unsafe).items():
        parts = [
            f"{counted.unsafe} with `--unsafe-fixes`" if counted.unsafe else "",
            f"{counted.display} to decide by hand" if counted.display else "",
            f"{counted.fixable} that could not be applied" if counted.fixable else "",
        ]
        if any(parts):
            yield f"- {code}: {', '.join(part for part in parts if part)}"
    for finding in [f for f in plan.findings if not f.applied and f.safety is Safety.DISPLAY][:LISTED]:
        yield f"  - {_place(finding)}"
    for skip in plan.skips[:LISTED]:
        detail = f" ({visible_line(skip.detail)})" if skip.detail else ""
        yield f"- {code_span(skip.path)} was skipped: {skip.reason}{detail}"


def _place(finding: Finding) -> str:
    """`path:line` CODE (cost): message."""
    said = visible(" ".join(finding.message.split()))
    shown = "; ".join(f"{code_span(f'{each.path}:{each.line}')} {visible(each.why)}" for each in finding.evidence)
    more = f" Shown by: {shown}" if shown else ""
    return f"{code_span(finding.location)} {finding.code} ({finding.cost}): {said}{more}"


def code_span(text: str) -> str:
    """Inline code that holds backticks safely."""
    text = visible_line(text)
    return f"`` {text} ``" if "`" in text else f"`{text}`"
