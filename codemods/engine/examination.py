"""What every rule makes of one file, and what keeps it silent: asked for by `fixer explain FILE:LINE` only.

The questions are those of `check_python.look` and `check_document.look_at_document`, in their order, each with its
answer kept.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from codemods.analysis.expected_errors import expects, is_observed
from codemods.analysis.python_context import PythonContext, program
from codemods.engine import called_names
from codemods.engine.check_document import look_at_document
from codemods.engine.check_python import has_descendant, judge, look, refused
from codemods.engine.findings import Numbering, chosen, finding, located, unaffected, without_fix
from codemods.engine.prefilter import prefilter
from codemods.model.edits import Finding, Lines, Skip, SkipReason
from codemods.project.index import Index
from codemods.rules.rule import Draft, Rule
from codemods.sources import files
from codemods.sources.document import Unit
from codemods.syntax import suppress
from codemods.syntax.prose import prose

NAMED = 3
"""Identifiers that a sentence names before it counts the rest."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One thing that a rule finds, whatever silences it afterwards."""

    finding: Finding
    suppressed: int | None = None
    """The line (in a notebook, of the cell) of the comment that silences it."""
    unfixed: str = ""
    """Why it has no fix."""
    expected: bool = False
    """The code around it expects the error or the warning, so that it is not reported."""


@dataclass(frozen=True, slots=True)
class ExaminedUnit:
    """One program or document, as all rules see it."""

    path: str
    lines: int = 0
    spoken: tuple[Spoken, ...] = ()
    asked: tuple[str, ...] = ()
    """The codes of the rules whose checks looked at the file."""
    unasked: Mapping[str, str] = field(default_factory=dict)
    """The codes of the others, each with the reason."""
    names: tuple[str, ...] = ()
    """What the calls of the line are of."""
    words: frozenset[str] = frozenset()
    """The identifiers of the line."""
    holds_line: bool = False
    """Whether the line that was asked for is in this unit."""
    skips: tuple[Skip, ...] = ()


def examine(
    path: str,
    index: Index,
    rules: Sequence[Rule],
    strategies: Mapping[str, str],
    line: tuple[int | None, int] | None,
) -> list[ExaminedUnit]:
    """What the rules make of the units of a file.

    Args:
        line: the cell (None where there are none) and the line that somebody asks about.
    """
    data = index.reader.read(path)
    if data is None:
        return [ExaminedUnit(path, skips=(Skip(path, SkipReason.UNREADABLE, "cannot be read"),))]
    examined = []
    for unit in files.units(path, data):
        source = files.decode(unit, data)
        if isinstance(source, Skip):
            examined.append(ExaminedUnit(unit, skips=(source,)))
        else:
            examined.append(_examined(unit, source, index, rules, strategies, line))
    return examined


def _examined(
    path: str,
    source: Unit,
    index: Index,
    rules: Sequence[Rule],
    strategies: Mapping[str, str],
    asked_for: tuple[int | None, int] | None,
) -> ExaminedUnit:
    text, python = source.text, files.is_python(path)
    lines = Lines(text)
    number = next((n for n, start in enumerate(lines.starts, 1) if source.position(start)[:2] == asked_for), None)
    passed = prefilter(tuple(rules)).wanted(path, text.encode("utf-8", "surrogatepass"))
    programmed = _without_prose(text) if python else text
    unasked = {rule.code: _words_lack(rule, path, text, programmed) for rule in rules if rule not in passed}
    found: list[Finding] = []
    skips: list[Skip] = []
    for looks, there in ((look, python), (look_at_document, files.is_document(path))):
        if there:
            some, reasons = looks(path, text, index, passed, strategies)
            found += some
            skips += reasons
    comments = suppress.read(text, python=python)
    context = program(index, path, strategies) if python else None
    drafts: list[Draft] = []
    if python and context is None and not skips and index.facts(path) is None:
        skips.append(refused(path, text))
    if context is not None:
        unasked |= {rule.code: why for rule in passed if (why := _unconcerned(rule, context))}
        drafts = judge(context, [rule for rule in passed if rule.code not in unasked], {})
    spoken = [
        Spoken(
            located(each, source, path),
            suppressed=next((_line(source, lines, s.at) for s in comments if s.covers(each)), None),
            unfixed="" if each.fix or each.unaffected else _why_unfixed(each, context, drafts),
        )
        for each in found
    ]
    if context is not None:
        spoken += (Spoken(located(each, source, path), expected=True) for each in _expected(context, drafts))
    unread = any(skip.reason is not SkipReason.RULE_FAILED for skip in skips)
    begin, end = (lines.starts[number - 1], [*lines.starts, len(text)][number]) if number else (0, 0)
    return ExaminedUnit(
        path,
        len(lines.starts) - text.endswith(("\n", "\r")),
        tuple(sorted(spoken, key=lambda each: each.finding.order)),
        () if unread else tuple(rule.code for rule in passed if rule.code not in unasked),
        {} if unread else dict(sorted(unasked.items())),
        called_names.on_lines(context, number, number) if context is not None and number else (),
        frozenset(re.findall(r"\w+", text[begin:end])),
        number is not None,
        tuple(skips),
    )


def _line(source: Unit, lines: Lines, number: int) -> int:
    """A line of the text as a line of the file, or of its cell."""
    return source.position(lines.starts[number - 1])[1]


def _without_prose(text: str) -> str:
    """A program without its comments and strings in three quotes."""
    left, place = b"", 0
    data = text.encode("utf-8", "surrogatepass")
    for start, end in prose(data):
        left, place = left + data[place:start], end
    return (left + data[place:]).decode("utf-8", "replace")


def _words_lack(rule: Rule, path: str, text: str, programmed: str) -> str:
    """Why the prefilter does not let a file pass to a rule. `programmed`: the text without what is for readers."""
    if not files.is_python(path):
        if files.kind(path) not in rule.kinds:
            return "does not read this kind of file"
        return f"the file holds {_none_of([word.decode('utf-8', 'replace') for word in rule.elsewhere])}"
    if not rule.triggers:
        return "does not read Python files"
    for where, held in (("", text), (" outside of comments and texts", programmed)):
        for group in rule.triggers:
            if not any(not word or re.search(rf"(?<!\w){re.escape(word)}(?!\w)", held) for word in group):
                return f"the file holds {_none_of(group)}{where}"
    return "its words do not stand in the file"


def _unconcerned(rule: Rule, context: PythonContext) -> str:
    """Why a rule whose words stand in a Python file does not look at it; empty: it does."""
    index, path = context.index, context.path
    if not rule.triggers:
        return "" if rule.kinds and files.is_document(path) else "does not read Python files"
    if rule.somewhere and not index.search(path, rule.somewhere):
        return f"the project holds {_none_of([word.decode() for word in rule.somewhere])}"
    if rule.imports and not index.using(path, rule.imports):
        return f"no file of the project imports {_some(rule.imports, 'or')}"
    if rule.subclasses and not has_descendant(context.facts, index, rule.subclasses):
        return f"no class of the file descends from {_some(sorted(rule.subclasses), 'or')}"
    return ""


def _none_of(words: Sequence[str]) -> str:
    return f"no {_some(words, 'or')}" if len(words) == 1 else f"none of {_some(words, 'and')}"


def _some(words: Sequence[str], last: str) -> str:
    """`a`, `b` and 3 more."""
    shown = [f"`{word}`" for word in words[:NAMED]]
    if len(words) > NAMED:
        return f"{', '.join(shown)} {last} {len(words) - NAMED} more"
    return f" {last} ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _expected(context: PythonContext, drafts: Sequence[Draft]) -> Iterator[Finding]:
    """What is dropped because the code around it expects what the bug costs."""
    for draft in drafts:
        if expects(context, draft.node, draft.consequence):
            start, end = context.module.span(draft.node)
            place = context.lines.place(start, end)
            yield finding(
                context,
                without_fix(draft),
                place=place,
                scope=context.scope_name(draft.node),
                lines=(place.line, place.end_line),
                fix=None,
                numbering=Numbering(),
            )


def _why_unfixed(found: Finding, context: PythonContext | None, drafts: Sequence[Draft]) -> str:
    """Why a finding has no fix."""
    if context is None:
        return ""
    for draft in drafts:
        same = isinstance(draft.node, ast.AST) and draft.rule.code == found.code and draft.message in found.message
        if not same or context.module.span(draft.node) != (found.place.start, found.place.end):
            continue
        offered = chosen(draft, context.strategies)
        if unaffected(draft, context):
            return ""
        if offered.remedy is None and draft.remedies:
            names = " or ".join(f"--strategy {found.code}={name}" for name in draft.remedies)
            return f"what to do has to be chosen: {names}"
        if offered.remedy is None:
            return "the rule offers no fix here"
        if is_observed(context, draft.node):
            return "warnings are caught, or a name is patched, around it: an edit there might break a test"
        return "its edit cannot be written here"
    return ""
