"""A check as a JUnit report, which most CI systems can show: findings are failed tests."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from codemods.model.edits import Finding, Safety
from codemods.model.visible import visible, visible_line
from fixer.report.positions import FileSpan, in_file, message_in_file
from fixer.report.tally import files_looked_at, worst_first
from fixer.run.request import FAILURES, Outcome

NO_XML = re.compile("[\ufffe\uffff]")
"""What `visible` leaves and XML 1.0 has no way to write."""


def render(outcome: Outcome) -> bytes:
    """A suite with a failed case for each finding, the worst first, and an error for what could not be done.

    Without any of them, it has one case that passed.
    """
    plan = outcome.plan
    found = worst_first(plan.findings)
    before = {file.path: file.before for file in plan.files}
    errors = [
        *outcome.problems,
        *(f"{visible_line(skip.path)}: {skip.reason}" for skip in plan.skips if skip.reason in FAILURES),
    ]
    counts = {
        "tests": str(max(1, len(found) + len(errors))),
        "failures": str(len(found)),
        "errors": str(len(errors)),
        "skipped": "0",
    }
    suites = Element("testsuites", counts)
    suite = SubElement(suites, "testsuite", {"name": "fixer", **counts})
    for finding in found:
        _case(suite, finding, in_file(finding, before[finding.path]))
    for error in map(_text, errors):
        case = SubElement(suite, "testcase", {"classname": "fixer", "name": error})
        SubElement(case, "error", {"message": error})
    if not (found or errors):
        SubElement(suite, "testcase", {"classname": "fixer", "name": f"nothing found ({files_looked_at(plan)})"})
    indent(suites)
    written: bytes = tostring(suites, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _case(suite: Element, finding: Finding, span: FileSpan) -> None:
    path, message = _text(visible_line(finding.path)), _text(message_in_file(finding))
    case = SubElement(
        suite,
        "testcase",
        {
            "classname": path,
            "name": _text(f"{finding.code} {finding.name}, line {span.line}"),
            "file": _text(finding.path),
            "line": str(span.line),
        },
    )
    lines = [f"{path}:{span.line}: {finding.code} [{finding.cost}] {message}"]
    lines += [_text(f"shown by {visible_line(each.path)}:{each.line}: {each.why}") for each in finding.shown_by]
    if finding.fix is not None:
        unsafe = " (unsafe)" if finding.safety is Safety.UNSAFE else ""
        lines.append(_text(f"fix{unsafe}: {finding.fix.title}"))
    failure = SubElement(case, "failure", {"type": finding.cost, "message": message})
    failure.text = "\n".join(lines)


def _text(text: str) -> str:
    return NO_XML.sub("\ufffd", visible(text))
