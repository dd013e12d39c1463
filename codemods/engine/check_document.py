"""One look at one file that is not (only) Python: its nodes, the checks, drafts as findings with minimal edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from codemods.engine.findings import (
    Numbering,
    chosen,
    costing_only,
    edits_elsewhere,
    finding,
    fix_of,
    of_these_releases,
    unaffected,
    with_other_readers,
    without_fix,
)
from codemods.engine.safety import weighed
from codemods.model.edits import Edit, Finding, Lines, Skip, SkipReason
from codemods.project.index import Index
from codemods.rules.file_context import FileContext
from codemods.rules.rule import Draft, Rule
from codemods.sources.document import Document
from codemods.sources.manifest import Manifest


def look_at_document(
    path: str, text: str, index: Index, wanted: Sequence[Rule], strategies: Mapping[str, str]
) -> tuple[list[Finding], list[Skip]]:
    """What rules find in one document, with fixes as edits of `text`.

    Args:
        wanted: the rules whose triggers the file holds.
    """
    document = index.reading(path)
    if document is None or isinstance(document, Skip):
        return [], [document] if document else []
    context = FileContext(path, text, index, strategies)
    failed: dict[str, Skip] = {}
    lines, numbering = Lines(text), Numbering()
    found: dict[tuple[str, int, int, str], Finding] = {}
    for made in _drafts(document, context, wanted, failed):
        with costing_only(made.rule, path, failed):
            if not isinstance(document, Manifest):  # which is what chooses a release
                made = with_other_readers(context, of_these_releases(context, made))
            if (draft := weighed(chosen(made, strategies or {}))) is None:
                continue
            if unaffected(draft, context):
                draft = without_fix(draft)
            node = draft.node
            key = (draft.rule.code, node.start, node.end, draft.message)
            if key not in found:
                place = lines.place(node.start, node.end)
                found[key] = finding(
                    context,
                    draft,
                    place=place,
                    scope=document.label(node),
                    lines=(place.line, place.end_line),
                    fix=fix_of(draft, _edits(document, draft, index)),
                    numbering=numbering,
                )
    notes = document.notes() if isinstance(document, Manifest) else ()
    unread = [Skip(path, SkipReason.UNPARSABLE, note) for note in notes]
    return [f for f in found.values() if f.code not in failed], [*unread, *failed.values()]


def _drafts(
    document: Document, context: FileContext, rules: Sequence[Rule], failed: dict[str, Skip]
) -> Iterator[Draft]:
    """Every check on the nodes it asked for. A crashing rule costs only itself."""
    table: dict[type, list[tuple[Rule, Callable[..., Iterator[Draft]]]]] = {}
    for rule in rules:
        for types, check in rule.checks:
            for kind in types:
                table.setdefault(kind, []).append((rule, check))
    for node in document.nodes():
        for rule, check in table.get(type(node), ()):
            drafts: list[Draft] = []
            if rule.code not in failed:
                with costing_only(rule, context.path, failed):
                    drafts.extend(check(node, context))
            yield from drafts


def _edits(document: Document, draft: Draft, index: Index) -> list[Edit] | None:
    """The edits of a draft, in other files too; None where one of them cannot surely be made."""
    if draft.remedy is None or (mine := document.together(draft.remedy.replacements)) is None:
        return None
    edits = list(mine)
    for path, replacements in draft.remedy.also.items():
        if (others := edits_elsewhere(index, path, replacements)) is None:
            return None
        edits += others
    return [edit for edit in edits if edit.text or edit.start < edit.end]
