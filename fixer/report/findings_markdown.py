"""The findings as Markdown: a table, short enough for the summary of a CI job or a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.model.edits import Finding, Safety
from codemods.model.plan import Plan
from codemods.model.visible import visible
from fixer.report.markdown import LISTED, code_span
from fixer.report.tally import count, files_looked_at, headline, nothing_found, plural, worst_first


def render(plan: Plan, unsafe: frozenset[str]) -> bytes:
    """The worst findings first; those behind the hundredth are counted.

    Args:
        unsafe: the paths where unsafe fixes are wanted.
    """
    return ("\n".join(_lines(plan, unsafe)) + "\n").encode("utf-8", "replace")


def _lines(plan: Plan, unsafe: frozenset[str]) -> Iterator[str]:
    yield "### fixer\n"
    if not plan.findings:
        yield nothing_found(plan)
    else:
        files = plural(len({finding.path for finding in plan.findings}), "file")
        yield f"**{headline(plan.findings)}** in {files} ({files_looked_at(plan)}).\n"
        yield "| place | rule | what | fix |"
        yield "|---|---|---|---|"
        for finding in worst_first(plan.findings)[:LISTED]:
            yield _row(finding)
        if len(plan.findings) > LISTED:
            yield f"\n… and {plural(len(plan.findings) - LISTED, 'more finding')}."
        yield from _steps(plan, unsafe)
    if plan.suppressed:
        yield f"\n{plural(len(plan.suppressed), 'finding')} suppressed by comments."
    if plan.skips:
        yield f"\n{plural(len(plan.skips), 'file')} skipped:\n"
        for skip in plan.skips[:LISTED]:
            yield f"- {code_span(skip.path)}: {skip.reason}"


def _row(finding: Finding) -> str:
    said = visible(" ".join(finding.message.split()))
    title = "by hand"
    if finding.fix is not None:
        title = f"{visible(finding.fix.title)}{' (unsafe)' if finding.safety is Safety.UNSAFE else ''}"
    cells = (code_span(finding.location), f"{finding.code} [{finding.cost}]", said, title)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _steps(plan: Plan, unsafe: frozenset[str]) -> Iterator[str]:
    total = count(plan.findings, unsafe)
    if total.fixable:
        yield f"\n`fixer apply` repairs {total.fixable:,} of them; `fixer apply --dry-run` shows how."
    if total.unsafe:
        yield f"\n{total.unsafe:,} more with `--unsafe-fixes`, which change more than the bug."
