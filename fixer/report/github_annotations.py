"""Findings as workflow commands of GitHub Actions, which show them beside the code.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from codemods.model.edits import Consequence, Finding
from codemods.model.plan import Plan
from codemods.model.visible import visible
from fixer.report.positions import FileSpan, in_file, message_in_file
from fixer.report.tally import worst_first

COMMANDS = {
    Consequence.SILENT: "error",
    Consequence.RAISES: "error",
    Consequence.WARNS: "warning",
    Consequence.DEPRECATED: "warning",
    Consequence.STYLE: "notice",
}


def render(plan: Plan) -> bytes:
    """One command a line, the worst first: of each level GitHub shows the first ten of a step."""
    before = {file.path: file.before for file in plan.files}
    found = worst_first(plan.findings)
    return "".join(f"{_command(each, in_file(each, before[each.path]))}\n" for each in found).encode()


def _command(finding: Finding, span: FileSpan) -> str:
    properties: dict[str, object] = {"file": finding.path, "line": span.line, "endLine": span.end_line}
    if span.columns is not None:
        properties["col"], properties["endColumn"] = span.columns
    properties["title"] = f"{finding.code} {finding.name} ({finding.cost})"
    given = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{COMMANDS[finding.weight]} {given}::{_data(message_in_file(finding))}"


def _data(text: str) -> str:
    """Text after the `::` of a command."""
    return visible(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    """Text of a property, which a comma or a colon would end."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
