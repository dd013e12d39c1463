"""One look at one file: gates, one parse, one walk, checks; drafts become findings with minimal edits."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import libcst as cst

from codemods import imports, newer, versions
from codemods.context import Context
from codemods.edits import Edit, Finding, Fix, Place, Safety, Skip, SkipReason, trim, whole_lines
from codemods.facts import Facts, gather
from codemods.index import Index, Ref
from codemods.rewrite import closing, joined, replace
from codemods.rule import Draft, Replacement, Rule
from codemods.tree import Span, render, spans, walk


def look(
    path: str, text: str, index: Index, rules: Sequence[Rule], strategies: Mapping[str, str]
) -> tuple[list[Finding], list[Skip]]:
    """What `rules` find in one file, with fixes as edits of `text`: the gates, the parse, the walk, the spans."""
    data = text.encode("utf-8", "surrogatepass")
    wanted = [r for r in rules if r.wants(data)]
    if not wanted:
        return [], []
    facts = index.facts(path)
    if facts is None:
        return [], [_refused(path, text)]
    wanted = [r for r in wanted if not r.subclasses or _has_descendant(facts, index, r.subclasses)]
    if not wanted:
        return [], []
    tree = index.trees.get(path, text)
    if isinstance(tree, Skip):
        return [], [tree]
    try:
        context = Context(path, text, tree, facts, index, strategies)
        failed: dict[str, Skip] = {}
        drafts = _check(context, wanted, failed)
        found = _findings(context, drafts, failed)
        return [f for f in found if f.code not in failed], list(failed.values())
    except RecursionError:
        return [], [Skip(path, SkipReason.TOO_DEEP, "nested too deeply to be rewritten")]


def _refused(path: str, text: str) -> Skip:
    """Why a file has no facts."""
    skip = gather(path, text)
    assert isinstance(skip, Skip)
    if skip.reason is SkipReason.UNPARSABLE and (version := newer.needed(text)):
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
    drafts: list[Draft] = []
    for node in walk(context.module):
        for rule, check in table.get(type(node), ()):
            if rule.code not in failed:
                with _costing_only(rule, context, failed):
                    drafts.extend(check(node, context))
    return drafts


@contextlib.contextmanager
def _costing_only(rule: Rule, context: Context, failed: dict[str, Skip]) -> Iterator[None]:
    """What a rule raises is noted, and goes no further."""
    try:
        yield
    except Exception as error:
        detail = f"{rule.code} failed: {type(error).__name__}: {error}"
        failed[rule.code] = Skip(context.path, SkipReason.RULE_FAILED, detail)


def _findings(context: Context, drafts: Sequence[Draft], failed: dict[str, Skip]) -> list[Finding]:
    """Drafts as findings: versions weighed, nodes turned into minimal edits."""
    lifted: list[tuple[Draft, list[tuple[cst.CSTNode, Replacement]]]] = []
    wanted: set[cst.CSTNode] = set()
    for draft in drafts:
        with _costing_only(draft.rule, context, failed):
            if not all(versions.may(context.target(p), spec) for p, spec in draft.bites.items()):
                continue
            pairs = _lifted(context, draft.fix)
            lifted.append((draft, pairs))
            wanted |= {draft.node, *(old for old, _ in pairs)}
            statement = context.statement(draft.node)
            if statement is not None:
                wanted |= {statement, _beyond(statement)}
    where = spans(context.module, wanted) if wanted else {}
    lines = Lines(context.text)
    found: dict[tuple[str, int, int, str], Finding] = {}
    counts: dict[str, int] = {}
    for draft, pairs in lifted:
        with _costing_only(draft.rule, context, failed):
            span = where[draft.node]
            key = (draft.rule.code, span.inner_start, span.inner_end, draft.message)
            if key not in found:
                found[key] = _finding(context, draft, pairs, where, lines, counts)
    return list(found.values())


def _finding(
    context: Context,
    draft: Draft,
    pairs: Sequence[tuple[cst.CSTNode, Replacement]],
    where: Mapping[cst.CSTNode, Span],
    lines: Lines,
    counts: dict[str, int],
) -> Finding:
    """One draft as a finding; `counts` tells equal pieces of code of one scope apart."""
    span = where[draft.node]
    place = lines.place(span.inner_start, span.inner_end)
    fix = _fix(context, draft, pairs, where)
    safety = draft.safety if fix else Safety.DISPLAY
    if any(not versions.surely(context.target(p), spec) for p, spec in draft.requires.items()):
        safety = min(safety, Safety.UNSAFE)
    spoken = " ".join(context.text[span.inner_start : span.inner_end].split())
    seed = f"{draft.rule.code}\0{context.path}\0{context.scope_name(draft.node)}\0{spoken}"
    counts[seed] = counts.get(seed, 0) + 1
    return Finding(
        code=draft.rule.code,
        name=draft.rule.name,
        path=context.path,
        place=place,
        message=_with_versions(draft),
        safety=safety,
        fix=fix,
        strategy=draft.strategy if fix else None,
        strategies=draft.strategies,
        bites=dict(draft.bites),
        fingerprint=hashlib.sha256(f"{seed}\0{counts[seed]}".encode("utf-8", "surrogateescape")).hexdigest()[:16],
        lines=_statement_lines(context.statement(draft.node), where, lines, place),
    )


def _with_versions(draft: Draft) -> str:
    """The message, with the versions in which the bug exists."""
    if not draft.bites:
        return draft.message
    return f"{draft.message} ({', '.join(f'{p} {spec}' for p, spec in draft.bites.items())})"


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


def _fix(
    context: Context,
    draft: Draft,
    pairs: Sequence[tuple[cst.CSTNode, Replacement]],
    where: Mapping[cst.CSTNode, Span],
) -> Fix | None:
    """The edits of a draft, imports included."""
    edits = [edit_of(context.path, context.text, context.module, old, new, where[old]) for old, new in pairs]
    for path, replacements in draft.also.items():
        other = context.other(path)
        if other is None:
            return None
        others = _lifted(other, replacements)
        there = spans(other.module, (old for old, _ in others))
        edits += [edit_of(path, other.text, other.module, old, new, there[old]) for old, new in others]
    edits = [e for e in edits if e.text or e.start < e.end]
    if not edits:
        return None
    for need in draft.needs:
        around = context.scope_name(need.at).split(".") if need.at is not None else []
        scopes = [".".join(around[:n]) for n in range(len(around), 0, -1)] if around != [""] else []
        edit = imports.satisfy(context.path, context.text, context.facts, need, (*scopes, ""))
        if edit is not None:
            edits.append(edit)
    return Fix(draft.title, tuple(dict.fromkeys(edits)))


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


class Lines:
    """Offsets as lines and columns."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(m.end() for m in re.finditer(r"\r\n|\n|\r", text))]

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1

    def place(self, start: int, end: int) -> Place:
        return Place(start, end, *self.position(start), *self.position(end))
