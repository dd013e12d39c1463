"""A check as SARIF 2.1.0, for code scanning and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html. A notebook is one file here: results name its lines,
and have no fix.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from codemods import __version__
from codemods.model.edits import Consequence, Edit, Evidence, Finding, Fix, Safety, Skip
from codemods.model.visible import visible
from codemods.sources.files import NOTEBOOK, container
from fixer.report.catalogue import page
from fixer.report.json import render as as_json
from fixer.report.positions import FileSpan, Positions, in_file, message_in_file
from fixer.report.tally import worst_first
from fixer.run.request import FAILURES, Outcome

if TYPE_CHECKING:
    from codemods.rules.rule import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {
    Consequence.SILENT: "error",
    Consequence.RAISES: "error",
    Consequence.WARNS: "warning",
    Consequence.DEPRECATED: "warning",
    Consequence.STYLE: "note",
}


def render(outcome: Outcome, rules: Mapping[str, Rule]) -> bytes:
    """One run: the rules that found something, their results (the worst first), and what was skipped."""
    plan = outcome.plan
    found = worst_first(plan.findings)
    names = {finding.code: finding.name for finding in found}
    numbers = {code: number for number, code in enumerate(sorted(names))}
    positions = Positions(plan, outcome.read)
    before = {file.path: file.before for file in plan.files}
    run = {
        "tool": {
            "driver": {
                "name": "fixer",
                "version": __version__,
                "rules": [_rule(code, names[code], rules.get(code)) for code in numbers],
            }
        },
        "invocations": [
            {
                "executionSuccessful": not outcome.failed,
                "toolExecutionNotifications": [
                    *(_skip(skip) for skip in plan.skips),
                    *({"level": "error", "message": _message(problem)} for problem in outcome.problems),
                ],
            }
        ],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\n", "\r"],
        "results": [_result(each, numbers[each.code], in_file(each, before[each.path]), positions) for each in found],
    }
    return as_json({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str, name: str, rule: Rule | None) -> dict[str, Any]:
    if rule is None:
        return {"id": code, "name": name}
    content: dict[str, Any] = {
        "id": code,
        "name": name,
        "shortDescription": _message(rule.summary),
        "help": {"text": f"{rule.summary}. See `fixer explain {code}`.", "markdown": page(rule)},
        "defaultConfiguration": {"level": LEVELS[rule.consequence]},
    }
    if rule.references:
        content["helpUri"] = rule.references[0]
    return content


def _result(finding: Finding, number: int, span: FileSpan, positions: Positions) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "consequence": str(finding.consequence),
        "certainty": str(finding.certainty),
        "safety": str(finding.safety),
    }
    if finding.cell is not None:
        properties["cell"] = finding.cell
    content: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": number,
        "level": LEVELS[finding.weight],
        "message": _message(message_in_file(finding)),
        "locations": [_location(finding.path, _region(span))],
        "partialFingerprints": {"fixer/v1": finding.fingerprint},
        "properties": properties,
    }
    if finding.evidence:
        content["relatedLocations"] = [_shown_by(*each) for each in enumerate(finding.evidence)]
    if finding.fix is not None and (changes := _changes(finding.fix, positions)):
        unsafe = " (unsafe)" if finding.safety is Safety.UNSAFE else ""
        content["fixes"] = [
            {"description": _message(f"{finding.fix.title}{unsafe}"), "artifactChanges": changes},
        ]
    return content


def _message(text: str) -> dict[str, str]:
    return {"text": visible(text)}


def _artifact(path: str) -> dict[str, str]:
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": "%SRCROOT%"}


def _location(path: str, region: Mapping[str, int] | None) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(path)}
    if region is not None:
        physical["region"] = region
    return {"physicalLocation": physical}


def _region(span: FileSpan) -> dict[str, int]:
    if span.columns is None:
        return {"startLine": span.line, "endLine": span.end_line}
    start, end = span.columns
    return {"startLine": span.line, "startColumn": start, "endLine": span.end_line, "endColumn": end}


def _shown_by(number: int, evidence: Evidence) -> dict[str, Any]:
    """A place that shows what is claimed; of a notebook only the file, because the line is one of its program."""
    region = None if evidence.path.endswith(NOTEBOOK) else {"startLine": evidence.line}
    return {"id": number, **_location(evidence.path, region), "message": _message(evidence.why)}


def _changes(fix: Fix, positions: Positions) -> list[dict[str, Any]]:
    """The edits of a fix by file; nothing where one of them lies in a notebook."""
    edits: dict[str, list[Edit]] = {}
    for edit in sorted(fix.edits):
        edits.setdefault(container(edit.path), []).append(edit)
    if any(path.endswith(NOTEBOOK) for path in edits):
        return []
    return [
        {"artifactLocation": _artifact(path), "replacements": list(_replacements(inside, positions))}
        for path, inside in edits.items()
    ]


def _replacements(edits: Iterable[Edit], positions: Positions) -> Iterable[dict[str, Any]]:
    for edit in edits:
        _, line, column = positions.of(edit.path, edit.start)
        _, end_line, end_column = positions.of(edit.path, edit.end)
        yield {
            "deletedRegion": _region(FileSpan(line, end_line, (column, end_column))),
            "insertedContent": {"text": edit.text},
        }


def _skip(skip: Skip) -> dict[str, Any]:
    return {
        "descriptor": {"id": str(skip.reason)},
        "level": "error" if skip.reason in FAILURES else "warning",
        "message": _message(f"skipped: {skip.reason}{f': {skip.detail}' if skip.detail else ''}"),
        "locations": [_location(container(skip.path), None)],
    }
