"""A run as JSON, for programs. Lines and columns are 1-based; columns count characters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from codemods import __version__
from codemods.model.edits import Consequence, Edit, Finding, Skip
from codemods.model.plan import Plan
from codemods.sources.files import container
from fixer.report.positions import Positions
from fixer.report.tally import by_rule, count, headline, other_versions, worst_first

if TYPE_CHECKING:
    from codemods.rules.rule import Rule


def document(
    plan: Plan,
    *,
    root: str,
    rules: Mapping[str, Rule],
    unsafe: frozenset[str],
    read: Callable[[str], bytes | None],
    written: frozenset[str] = frozenset(),
    statistics: bool = False,
) -> dict[str, Any]:
    """Everything about a run as plain JSON values.

    Args:
        root: the root, relative to where the person stands.
        unsafe: the paths where unsafe fixes are wanted.
        read: gives the bytes of a file that the plan does not hold.
        written: the paths that this run wrote.
    """
    positions = Positions(plan, read)
    total = count(plan.findings, unsafe)
    roots = sorted((project.root for project in plan.projects), key=len, reverse=True)
    content: dict[str, Any] = {
        "version": __version__,
        "root": root,
        "files_seen": plan.files_seen,
        "files_read": plan.files_read,
        "projects": [
            {
                "root": project.root or ".",
                "targets": {
                    package: {"spec": target.spec, "from": target.source}
                    for package, target in sorted(project.targets.items())
                },
            }
            for project in plan.projects
        ],
        "findings": [
            _finding(finding, positions, _project(finding.path, roots), rules.get(finding.code), written)
            for finding in worst_first(plan.findings)
        ],
        "skips": [_skip(skip) for skip in plan.skips],
        "summary": {
            "findings": total.findings,
            "fixable": total.with_fix,
            "files": len({finding.path for finding in plan.findings}),
            "skipped": len({skip.path for skip in plan.skips}),
            "suppressed": len(plan.suppressed),
            "consequences": {
                str(one): number
                for one in sorted(Consequence, reverse=True)
                if (number := sum(finding.consequence is one and finding.is_certain for finding in plan.findings))
            },
            "possible": sum(not finding.is_certain for finding in plan.findings),
            "headline": headline(plan.findings),
            "other_versions": [
                {
                    "findings": each.findings,
                    "package": each.package,
                    "spec": each.allowed,
                    "from": each.source,
                    "target": each.target,
                }
                for each in other_versions(plan)
            ],
        },
    }
    if statistics:
        content["statistics"] = {
            code: {"findings": counted.findings, "fixable": counted.with_fix, "fixed": counted.fixed}
            for code, counted in by_rule(plan.findings, unsafe).items()
        }
    return content


def render(content: Any) -> bytes:
    """JSON text in UTF-8 with a final newline."""
    return json.dumps(content, indent=2, ensure_ascii=True).encode() + b"\n"


def _finding(
    finding: Finding, positions: Positions, project: str | None, rule: Rule | None, written: frozenset[str]
) -> dict[str, Any]:
    place = finding.reported
    fix = None
    if finding.fix is not None:
        fix = {"title": finding.fix.title, "edits": [_edit(edit, positions) for edit in finding.fix.edits]}
    return {
        "code": finding.code,
        "name": finding.name,
        "path": finding.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "cell": finding.cell,
        "project": project,
        "fingerprint": finding.fingerprint,
        "copy": finding.copy,
        "message": finding.message,
        "consequence": str(finding.consequence),
        "certainty": str(finding.certainty),
        "evidence": [{"path": each.path, "line": each.line, "why": each.why} for each in finding.evidence],
        "safety": str(finding.safety),
        "strategy": finding.strategy,
        "strategies": list(finding.strategies),
        "bites": dict(finding.bites),
        "fix": fix,
        "applied": finding.applied and finding.path in written,
        "url": rule.references[0] if rule and rule.references else None,
    }


def _edit(edit: Edit, positions: Positions) -> dict[str, Any]:
    cell, *start = positions.of(edit.path, edit.start)
    _, *end = positions.of(edit.path, edit.end)
    content = {"path": container(edit.path), "start": start, "end": end, "text": edit.text}
    return content if cell is None else {**content, "cell": cell}


def _skip(skip: Skip) -> dict[str, str]:
    return {"path": skip.path, "reason": str(skip.reason), "detail": skip.detail}


def _project(path: str, roots: list[str]) -> str | None:
    for root in roots:
        if root in ("", ".") or path.startswith(f"{root}/"):
            return root or "."
    return None
