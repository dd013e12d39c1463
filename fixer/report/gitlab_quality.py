"""Findings as a code quality report of GitLab, which shows them in merge requests.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

from typing import Any

from codemods.model.edits import Consequence, Finding
from codemods.model.plan import Plan
from codemods.model.visible import visible
from fixer.report.json import render as as_json
from fixer.report.positions import FileSpan, in_file, message_in_file
from fixer.report.tally import worst_first

SEVERITIES = {
    Consequence.SILENT: "critical",
    Consequence.RAISES: "major",
    Consequence.WARNS: "minor",
    Consequence.DEPRECATED: "minor",
    Consequence.STYLE: "info",
}


def render(plan: Plan) -> bytes:
    """A JSON array with one object for each finding, the worst first."""
    before = {file.path: file.before for file in plan.files}
    return as_json([_entry(each, in_file(each, before[each.path])) for each in worst_first(plan.findings)])


def _entry(finding: Finding, span: FileSpan) -> dict[str, Any]:
    return {
        "description": visible(f"{finding.code}: {message_in_file(finding)}"),
        "check_name": finding.code,
        "fingerprint": finding.fingerprint,
        "severity": SEVERITIES[finding.weight],
        "location": {
            "path": finding.path.encode("utf-8", "replace").decode(),
            "lines": {"begin": span.line, "end": span.end_line},
        },
    }
