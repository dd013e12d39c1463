"""One look at one Python file: gates, one parse, one walk, checks; drafts become findings with minimal edits."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, TypeAlias

import libcst as cst

from codemods.analysis.expected_errors import expects, is_observed
from codemods.analysis.python_context import PythonContext
from codemods.engine import rewriting
from codemods.engine.findings import Numbering, costing_only, edits_elsewhere, finding, fix_of, unaffected, without_fix
from codemods.model.edits import Edit, Finding, Lines, Place, Skip, SkipReason, Unreadable, trim, whole_lines
from codemods.project.index import Index, Ref
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Repair, Rule
from codemods.syntax import comments, imports, unsupported_syntax
from codemods.syntax.facts import Facts, gather
from codemods.syntax.identifiers import Words
from codemods.syntax.lazy_parse import Deferred
from codemods.syntax.rewrite import Replacement, closing, joined, replace
from codemods.syntax.tree import Span, children, render, spans, walk
from codemods.syntax.verbs import Verbs

_Pairs: TypeAlias = "list[tuple[cst.CSTNode, Replacement]]"


def look(
    path: str, text: str, index: Index, wanted: Sequence[Rule], strategies: Mapping[str, str]
) -> tuple[list[Finding], list[Skip]]:
    """What rules find in one file, with fixes as edits of `text`: the second gate, the parse, the walk, the spans.

    Args:
        wanted: the rules whose triggers the file holds.
    """
    wanted = [r for r in wanted if r.concerns is None or r.concerns.file(path, text, index)]
    if not wanted:
        return [], []
    facts = index.facts(path)
    if facts is None:
        return [], [_refused(path, text)]
    wanted = [r for r in wanted if not r.subclasses or _has_descendant(facts, index, r.subclasses)]
    if not wanted:
        return [], []
    index.recorder.gate("facts")
    failed: dict[str, Skip] = {}
    judged: list[Draft] = []
    module = index.syntax(path) if any(r.reads_ast for r in wanted) else None
    program = PythonContext(path, text, module, facts, index, strategies) if module is not None else None
    if program is not None:
        with index.recorder.phase("walking"):
            judged = _judge(program, wanted, failed)
    others = [r for r in wanted if not r.reads_ast]
    if not judged and not others:
        return [], list(dict.fromkeys(failed.values()))
    with index.recorder.phase("parsing"):
        tree = index.trees.get(path, text, facts)
    if isinstance(tree, Skip):
        return [], [tree]
    try:
        with index.recorder.phase("walking"):
            context = Context(path, text, tree, facts, index, strategies)
            drafts = _check(context, others, failed)
        with index.recorder.phase("fixing"):
            if program is not None:
                drafts += _rewritten(context, program, judged, failed)
            found = _findings(context, drafts, failed)
        return [f for f in found if f.code not in failed], list(dict.fromkeys(failed.values()))
    except RecursionError:
        return [], [Skip(path, SkipReason.TOO_DEEP, "nested too deeply to be rewritten")]
    except Unreadable as error:
        return [], [error.skip]


def _refused(path: str, text: str) -> Skip:
    """Why a file has no facts."""
    skip = gather(path, text)
    assert isinstance(skip, Skip)
    if skip.reason is SkipReason.UNPARSABLE and (version := unsupported_syntax.needed(text)):
        detail = f"{skip.detail}; Python {version} reads it: run fixer with that or a newer one"
        return Skip(path, SkipReason.NEWER_SYNTAX, detail)
    return skip


def _has_descendant(facts: Facts, index: Index, names: frozenset[str]) -> bool:
    return any(index.descends(Ref(facts.path, name), names) is not False for name in facts.classes)


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


def _judge(program: PythonContext, rules: Sequence[Rule], failed: dict[str, Skip]) -> list[Draft]:
    """Run the checks that ask for nodes of the syntax tree."""
    drafts: list[Draft] = []
    for rule in rules:
        for types, check in rule.checks:
            for node in program.all(*(kind for kind in types if issubclass(kind, ast.AST))):
                with costing_only(rule, program.path, failed), program.index.recorder.rule(rule.code):
                    drafts.extend(check(node, program))
    return drafts


def _rewritten(
    context: Context, program: PythonContext, drafts: Sequence[Draft], failed: dict[str, Skip]
) -> list[Draft]:
    """Drafts about the syntax tree as drafts about the libcst tree of the same text."""
    found: list[Draft] = []
    nodes = [[draft.node, *_subjects(program, draft.verbs)] for draft in drafts]
    places = rewriting.located(context, program.module, chain.from_iterable(nodes))
    for draft, concerned in zip(drafts, nodes, strict=True):
        with costing_only(draft.rule, context.path, failed):
            first, *others = _written(context, program, draft.verbs, places, concerned) or [{}]
            also = {path: _written_in(context, program, path, verbs) for path, verbs in draft.also.items()}
            found.append(
                dataclasses.replace(draft, node=places[draft.node], fix=first, beside=tuple(others), also=also)
            )
    return found


def _written_in(context: Context, program: PythonContext, path: str, repair: Repair | Verbs) -> Repair:
    """The part of a fix that is about another file: replacements as they are, verbs written into its Python."""
    if isinstance(repair, Mapping):
        return repair
    there, other = context.other(path), program.other(path)
    assert there is not None and other is not None, "a fix is about files that can be read"
    subjects = _subjects(other, repair)
    places = rewriting.located(there, other.module, subjects)
    return dict(chain.from_iterable(each.items() for each in _written(there, other, repair, places, subjects)))


def _subjects(program: PythonContext, verbs: Verbs) -> list[ast.AST]:
    return [node for verb in verbs for node in rewriting.subjects(program.module, verb)]


def _written(
    context: Context,
    program: PythonContext,
    verbs: Verbs,
    places: Mapping[ast.AST, cst.CSTNode],
    concerned: Sequence[ast.AST],
) -> list[dict[cst.CSTNode, Replacement]]:
    """What becomes of which libcst nodes, verb by verb.

    Raises:
        Unreadable: where libcst has no counterpart of a node concerned.
    """
    if not all(node in places for node in concerned):
        raise Unreadable(Skip(context.path, SkipReason.NO_ROUND_TRIP, "libcst reads a statement in another way"))
    return [rewriting.replacements(context, program.module, verb, places) for verb in verbs]


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
    lifted: list[tuple[Draft, list[_Pairs]]] = []
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
    repairs: Sequence[_Pairs],
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


def _overlap(edits: Sequence[Edit]) -> bool:
    """Whether two edits of one file change the same text."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    return any(earlier.end > later.start for earlier, later in pairwise(ordered))


def _fits_formatted_strings(context: Context, pairs: _Pairs, edits: Sequence[Edit]) -> bool:
    """Whether edits inside f-strings hold nothing that Python before 3.12 refuses there (PEP 701)."""
    for (old, _), edit in zip(pairs, edits, strict=True):
        around = (node for node in context.ancestors(old) if isinstance(node, cst.FormattedString))
        if any(mark in edit.text for node in around for mark in (node.end, "\\", "#")):
            return False
    return True


def _lifted(context: Context, fix: Mapping[cst.CSTNode, Replacement]) -> list[tuple[cst.CSTNode, Replacement]]:
    """A fix in which nothing leaves a hole: what holds a node that goes, or becomes several, changes with it.

    The neighbours on its line keep their semicolons, those in its list their commas, and its block a `pass`.
    """
    lifted: dict[cst.CSTNode, Replacement] = {}
    held: set[cst.CSTNode] = set()
    for old, new in fix.items():
        holder, comma = context.parent(old), getattr(old, "comma", None)
        if isinstance(new, cst.CSTNode):
            lost = isinstance(comma, cst.Comma) and not isinstance(getattr(new, "comma", None), cst.Comma)
            lifted[old] = new.with_changes(comma=comma) if lost else new
        elif holder is not None and comma is not None:
            lifted[holder] = _list(holder, old, fix)
            held.add(holder)
        elif isinstance(holder, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            lifted[holder] = _line(holder, fix)
            held.add(holder)
        else:
            lifted[old] = new or None
    for old in tuple(lifted):
        block = context.parent(old)
        if isinstance(block, cst.IndentedBlock) and all(lifted.get(s, s) is None for s in block.body):
            lifted[old] = cst.SimpleStatementLine([cst.Pass()], leading_lines=getattr(old, "leading_lines", ()))
    inside = {node for holder in held for node in walk(holder)} - held
    nodes = {old: new for old, new in fix.items() if isinstance(new, cst.CSTNode)}
    whole = {old: replace(new, nodes) for old, new in lifted.items() if old in held and isinstance(new, cst.CSTNode)}
    return [(old, whole.get(old, new)) for old, new in lifted.items() if old not in inside]


def _exchanged(items: Sequence[cst.CSTNode], fix: Mapping[cst.CSTNode, Replacement]) -> list[Any]:
    found: list[cst.CSTNode] = []
    for item in items:
        new = fix.get(item, item)
        found += [new] if isinstance(new, cst.CSTNode) else new or []
    return found


def _line(
    line: cst.SimpleStatementLine | cst.SimpleStatementSuite, fix: Mapping[cst.CSTNode, Replacement]
) -> Replacement:
    """A line of small statements with some of them exchanged."""
    body = _exchanged(line.body, fix)
    if body:
        return line.with_changes(body=joined(body))
    return line.with_changes(body=[cst.Pass()]) if isinstance(line, cst.SimpleStatementSuite) else None


def _list(holder: cst.CSTNode, old: cst.CSTNode, fix: Mapping[cst.CSTNode, Replacement]) -> cst.CSTNode:
    """`holder` with other things between its commas: the list of arguments or elements that `old` is one of."""
    fields = ((f.name, getattr(holder, f.name)) for f in dataclasses.fields(holder))
    name, items = next((n, v) for n, v in fields if isinstance(v, (list, tuple)) and any(each is old for each in v))
    listed = _exchanged(items, fix)
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    for i, each in enumerate(listed):
        if each is listed[-1]:
            listed[i] = closing(each, items[-1])
        elif not isinstance(each.comma, cst.Comma):
            listed[i] = each.with_changes(comma=between)
    return holder.with_changes(**{name: listed})


def edit_of(path: str, text: str, module: cst.Module, old: cst.CSTNode, new: Replacement, span: Span) -> Edit:
    """The minimal edit that turns a node into its replacement."""
    end = min(span.end, len(text))
    if new is None:
        start = span.start
        if isinstance(old, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            start = max(start, text.rfind("\n", 0, span.inner_start) + 1)
        return Edit(path, start, end, "")
    nodes = [new] if isinstance(new, cst.CSTNode) else new
    flags = {"is_elif": True} if text.startswith("elif", span.inner_start) else {}
    written = "".join(render(module, node, span.indent, **flags) for node in nodes)
    if span.end > len(text):  # the file ends without a newline, and goes on doing so
        written = written[: len(text) - span.end]
    return whole_lines(trim(Edit(path, span.start, end, written), text), text)
