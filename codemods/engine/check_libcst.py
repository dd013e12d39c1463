"""The checks of rules that still ask for libcst nodes: one parse, one walk, drafts made findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst

from codemods.analysis.expected_errors_libcst import expects, is_observed
from codemods.engine.findings import Numbering, costing_only, edits_elsewhere, finding, fix_of, unaffected, without_fix
from codemods.model.edits import Edit, Finding, Lines, Place, Skip, Unreadable
from codemods.project.index import Index
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import comments, imports
from codemods.syntax.facts import Facts
from codemods.syntax.identifiers import Words
from codemods.syntax.lazy_parse import Deferred
from codemods.syntax.rewriting import Pairs, _fits_formatted_strings, _lifted, _overlap, edit_of
from codemods.syntax.tree import Span, children, spans


def look_at_tree(
    path: str,
    text: str,
    facts: Facts,
    index: Index,
    rules: Sequence[Rule],
    strategies: Mapping[str, str],
    failed: dict[str, Skip],
) -> list[Finding]:
    """What rules find in the libcst tree of a file.

    Raises:
        RecursionError, Unreadable: where the file cannot be read.
    """
    with index.recorder.phase("parsing"):
        tree = index.trees.get(path, text, facts)
    if isinstance(tree, Skip):
        raise Unreadable(tree)
    with index.recorder.phase("walking"):
        context = Context(path, text, tree, facts, index, strategies)
        drafts = _check(context, rules, failed)
    with index.recorder.phase("fixing"):
        return _findings(context, drafts, failed)


def _check(context: Context, rules: Sequence[Rule], failed: dict[str, Skip]) -> list[Draft]:
    """Walk the tree once and run every check on the nodes it asked for. A crashing rule costs only itself."""
    table: dict[type[cst.CSTNode], list[tuple[Rule, Callable[..., Iterator[Draft]]]]] = {}
    for rule in rules:
        for types, check in rule.checks:
            for kind in types:
                table.setdefault(kind, []).append((rule, check))
    doors = _Doors(context, rules)
    drafts: list[Draft] = []
    timed = context.index.recorder.rule
    stack: list[tuple[cst.CSTNode, Sequence[Rule]]] = [(context.module, rules)]
    beyond = [rule for rule in rules if any(kind is not cst.Module for types, _ in rule.checks for kind in types)]
    while stack:
        node, asking = stack.pop()
        for rule, check in table.get(type(node), ()):
            if rule in asking and rule.code not in failed:
                with costing_only(rule, context.path, failed), timed(rule.code):
                    drafts.extend(check(node, context))
        if node is context.module:
            asking = beyond
        elif type(node) is Deferred:
            asking = [rule for rule in asking if doors.open(rule, node)]
        if not asking:
            continue
        try:
            below = children(node)
        except Unreadable as error:
            failed.update((rule.code, error.skip) for rule in asking)
            continue
        stack += [(child, asking) for child in reversed(below)]
    return drafts


class _Doors:
    """Gates 1 and 2 at close range: whether a rule may find something in a body, before it is parsed."""

    def __init__(self, context: Context, rules: Sequence[Rule]) -> None:
        self._context = context
        self._words = {rule: Words(rule.together, context.facts) for rule in rules}
        self._outside: dict[Rule, bool] = {}

    def open(self, rule: Rule, body: Deferred) -> bool:
        if body.is_class and self._is_outside(rule):
            return True
        if not self._words[rule].stand_in(body.definition):
            return False
        if rule.concerns is None:
            return True
        return (rule.concerns.klass if body.is_class else rule.concerns.function)(body, self._context)

    def _is_outside(self, rule: Rule) -> bool:
        """Whether it may find something outside of functions; there, a class is no border."""
        if rule not in self._outside:
            self._outside[rule] = self._words[rule].stand_in(self._code_outside)
        return self._outside[rule]

    @cached_property
    def _code_outside(self) -> str:
        lines: list[str | None] = list(self._context.text.split("\n"))
        for each in self._context.facts.imports:
            if not each.scope:  # names that are only imported, outside of every class, open none
                lines[each.line - 1 : each.end_line] = [None] * (each.end_line - each.line + 1)
        waiting = list(self._context.facts.bodies)
        while waiting:
            body = waiting.pop()
            if body.keyword == "class":
                waiting += body.inside
            else:
                lines[body.top - 1 : body.last] = [None] * (body.last - body.top + 1)
        return "\n".join(line for line in lines if line is not None)


def _findings(context: Context, drafts: Sequence[Draft], failed: dict[str, Skip]) -> list[Finding]:
    """Drafts as findings: versions weighed, nodes turned into minimal edits."""
    lifted: list[tuple[Draft, list[Pairs]]] = []
    wanted: set[cst.CSTNode] = set()
    for draft in drafts:
        with costing_only(draft.rule, context.path, failed):
            if expects(context, draft.node, draft.consequence):
                continue
            if unaffected(draft, context) or (draft.fix and is_observed(context, draft.node)):
                draft = without_fix(draft)
            pairs = [_lifted(context, fix) for fix in (draft.fix, *draft.beside)]
            lifted.append((draft, pairs))
            wanted |= {draft.node, *(old for each in pairs for old, _ in each)}
            statement = context.statement(draft.node)
            if statement is not None:
                wanted |= {statement, _beyond(statement)}
    where = spans(context.path, context.text, context.module, wanted) if wanted else {}
    lines = Lines(context.text)
    found: dict[tuple[str, int, int, str], Finding] = {}
    numbering = Numbering()
    for draft, pairs in lifted:
        with costing_only(draft.rule, context.path, failed):
            assert isinstance(draft.node, cst.CSTNode)
            span = where[draft.node]
            key = (draft.rule.code, span.inner_start, span.inner_end, draft.message)
            if key not in found:
                place = lines.place(span.inner_start, span.inner_end)
                found[key] = finding(
                    context,
                    draft,
                    place=place,
                    scope=context.scope_name(draft.node),
                    lines=_statement_lines(context.statement(draft.node), where, lines, place),
                    fix=fix_of(draft, _edits(context, draft, pairs, where)),
                    numbering=numbering,
                )
    return list(found.values())


def _statement_lines(
    statement: cst.CSTNode | None, where: Mapping[cst.CSTNode, Span], lines: Lines, place: Place
) -> tuple[int, int]:
    """First and last line of a small statement, or of a compound statement's header."""
    if statement is None:
        return place.line, place.end_line
    beyond = where[_beyond(statement)]
    end = beyond.start if hasattr(statement, "body") else beyond.inner_end
    return lines.position(where[statement].inner_start)[0], lines.position(end)[0]


def _beyond(statement: cst.CSTNode) -> cst.CSTNode:
    """The body before which a compound statement's header ends; what ends it, where there is no one body."""
    return statement.subject if isinstance(statement, cst.Match) else getattr(statement, "body", statement)


def _edits(
    context: Context,
    draft: Draft,
    repairs: Sequence[Pairs],
    where: Mapping[cst.CSTNode, Span],
) -> list[Edit] | None:
    """The edits of a draft, in other files too, imports included; None where one of them cannot be made.

    Args:
        repairs: one fix, or several that are written one by one and must not touch each other.
    """
    edits: list[Edit] = []
    for pairs in repairs:
        made = [edit_of(context.path, context.text, context.module, old, new, where[old]) for old, new in pairs]
        if not _fits_formatted_strings(context, pairs, made):
            return None
        edits += made
    if len(repairs) > 1 and _overlap(edits):
        return None
    edits = comments.kept(context.text, edits)
    for path, replacements in draft.also.items():
        if all(isinstance(old, cst.CSTNode) for old in replacements):
            other = context.other(path)
            if other is None:
                return None
            others = _lifted(other, replacements)
            there = spans(other.path, other.text, other.module, (old for old, _ in others))
            theirs = [edit_of(path, other.text, other.module, old, new, there[old]) for old, new in others]
            if not _fits_formatted_strings(other, others, theirs):
                return None
            edits += comments.kept(other.text, theirs)
        elif (elsewhere := edits_elsewhere(context.index, path, replacements)) is None:
            return None
        else:
            edits += elsewhere
    edits = [e for e in edits if e.text or e.start < e.end]
    if not edits:
        return None
    starts = (where[old].inner_start for pairs in repairs for old, _ in pairs)
    first = context.text.count("\n", 0, min(starts, default=0)) + 1
    for need in draft.needs:
        around = need.scope.split(".") if need.scope else []
        scopes = [".".join(around[:n]) for n in range(len(around), 0, -1)]
        edit = imports.satisfy(context.path, context.text, context.facts, need, (*scopes, ""), first)
        if edit is not None:
            edits.append(edit)
    return edits
