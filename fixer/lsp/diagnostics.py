"""Findings as an editor shows them: marked places, and the page of a rule where the pointer rests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lsprotocol import types
from pygls.uris import from_fs_path

from codemods.model.edits import Consequence, Finding
from codemods.rules.rule import Rule
from codemods.sources.files import NOTEBOOK
from fixer.lsp.documents import OpenFile
from fixer.report.catalogue import page
from fixer.report.sarif import LEVELS

SOURCE = "fixer"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}


def span(file: OpenFile, finding: Finding) -> types.Range:
    """Where a finding lies, as the editor counts."""
    place, part = finding.reported, file.parts[finding.cell]
    return types.Range(
        part.position(place.line, place.column),
        part.position(place.end_line, place.end_column),
    )


def published(
    file: OpenFile, findings: Sequence[Finding], rules: Mapping[str, Rule]
) -> Iterator[types.PublishDiagnosticsParams]:
    """The diagnostics of each text of a file: none where nothing was found, which takes the old ones away."""
    for cell, part in file.parts.items():
        shown = [diagnostic(file, finding, rules) for finding in findings if finding.cell == cell]
        yield types.PublishDiagnosticsParams(part.uri, shown, part.version)


def diagnostic(file: OpenFile, finding: Finding, rules: Mapping[str, Rule]) -> types.Diagnostic:
    """One finding."""
    rule = rules.get(finding.code)
    references = rule.references if rule is not None else ()
    deprecated = finding.consequence is Consequence.DEPRECATED
    return types.Diagnostic(
        range=span(file, finding),
        message=finding.message,
        severity=_SEVERITIES[LEVELS[finding.weight]],
        code=finding.code,
        code_description=types.CodeDescription(references[0]) if references else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Deprecated] if deprecated else None,
        related_information=list(_shown_by(file, finding)) or None,
    )


def _shown_by(file: OpenFile, finding: Finding) -> Iterator[types.DiagnosticRelatedInformation]:
    """The places that show what the finding claims; none in notebooks, whose lines the editor does not count."""
    for each in finding.evidence:
        uri = file.uri if each.path == file.path else from_fs_path(str(file.root / each.path))
        if uri is not None and not each.path.endswith(NOTEBOOK):
            line = types.Position(each.line - 1, 0)
            yield types.DiagnosticRelatedInformation(types.Location(uri, types.Range(line, line)), each.why)


def hover(file: OpenFile, findings: Sequence[Finding], rules: Mapping[str, Rule]) -> types.Hover | None:
    """What was found, each with the page of its rule."""
    shown = []
    for finding in findings:
        shown.append(f"**{finding.code}** ({finding.cost}): {finding.message}")
        if (rule := rules.get(finding.code)) is not None:
            shown.append(page(rule))
    if not shown:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(shown)), span(file, findings[0]))
