"""One look at one file: gates, one parse, one walk, checks; drafts become findings with minimal edits."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence

import libcst as cst

from codemods import imports, versions
from codemods.context import Context
from codemods.edits import Edit, Finding, Fix, Place, Safety, Skip, SkipReason, trim, whole_lines
from codemods.facts import Facts, gather
from codemods.index import Index, Ref
from codemods.rule import Draft, Replacement, Rule
from codemods.tree import Span, parse, render, spans, walk


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
        skip = gather(path, text)
        return [], [skip] if isinstance(skip, Skip) else []
    wanted = [r for r in wanted if not r.subclasses or _has_descendant(facts, index, r.subclasses)]
    if not wanted:
        return [], []
    tree = parse(path, text)
    if isinstance(tree, Skip):
        return [], [tree]
    try:
        context = Context(path, text, tree, facts, index, strategies)
        drafts, skips = _check(context, wanted)
        return _findings(context, drafts), skips
    except RecursionError:
        return [], [Skip(path, SkipReason.TOO_DEEP, "nested too deeply to be rewritten")]


def _has_descendant(facts: Facts, index: Index, names: frozenset[str]) -> bool:
    return any(index.descends(Ref(facts.path, name), names) is not False for name in facts.classes)


def _check(context: Context, rules: Sequence[Rule]) -> tuple[list[Draft], list[Skip]]:
    """Walk the tree once and run every check on the nodes it asked for. A crashing rule costs only itself."""
    table: dict[type[cst.CSTNode], list[tuple[Rule, Callable[..., Iterator[Draft]]]]] = {}
    for rule in rules:
        for types, check in rule.checks:
            for kind in types:
                table.setdefault(kind, []).append((rule, check))
    drafts: list[Draft] = []
    skips: dict[str, Skip] = {}
    for node in walk(context.module):
        for rule, check in table.get(type(node), ()):
            if rule.code in skips:
                continue
            try:
                drafts.extend(check(node, context))
            except RecursionError:
                raise
            except Exception as error:
                detail = f"{rule.code} failed: {type(error).__name__}: {error}"
                skips[rule.code] = Skip(context.path, SkipReason.RULE_FAILED, detail)
    return [d for d in drafts if d.rule.code not in skips], list(skips.values())


def _findings(context: Context, drafts: Sequence[Draft]) -> list[Finding]:
    """Drafts as findings: versions weighed, nodes turned into minimal edits."""
    alive = [d for d in drafts if all(versions.may(context.target(p), spec) for p, spec in d.bites.items())]
    if not alive:
        return []
    lifted = [(d, [_lift(context, old, new) for old, new in d.fix.items()]) for d in alive]
    wanted: set[cst.CSTNode] = {d.node for d in alive} | {old for _, pairs in lifted for old, _ in pairs}
    for draft in alive:
        statement = context.statement(draft.node)
        if statement is not None:
            wanted.add(statement)
            if isinstance(statement, cst.BaseCompoundStatement) and hasattr(statement, "body"):
                wanted.add(statement.body)
    where = spans(context.module, wanted)
    lines = Lines(context.text)
    found: dict[tuple[str, int, int, str], Finding] = {}
    counts: dict[str, int] = {}
    for draft, pairs in lifted:
        span = where[draft.node]
        place = lines.place(span.inner_start, span.inner_end)
        fix = _fix(context, draft, pairs, where)
        safety = draft.safety if fix else Safety.DISPLAY
        if any(not versions.surely(context.target(p), spec) for p, spec in draft.requires.items()):
            safety = min(safety, Safety.UNSAFE)
        key = (draft.rule.code, span.inner_start, span.inner_end, draft.message)
        if key in found:
            continue
        statement = context.statement(draft.node)
        spoken = " ".join(context.text[span.inner_start : span.inner_end].split())
        seed = f"{draft.rule.code}\0{context.path}\0{context.scope_name(draft.node)}\0{spoken}"
        counts[seed] = counts.get(seed, 0) + 1
        found[key] = Finding(
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
            fingerprint=hashlib.sha256(f"{seed}\0{counts[seed]}".encode()).hexdigest()[:16],
            lines=_statement_lines(statement, where, lines, place),
        )
    return list(found.values())


def _with_versions(draft: Draft) -> str:
    """The message, with the versions in which the bug exists."""
    if not draft.bites:
        return draft.message
    return f"{draft.message} ({', '.join(f'{p} {spec}' for p, spec in draft.bites.items())})"


def _statement_lines(
    statement: cst.CSTNode | None, where: Mapping[cst.CSTNode, Span], lines: Lines, place: Place
) -> tuple[int, int]:
    """First and last line of a small statement, or of a compound statement's header."""
    if statement is None or statement not in where:
        return place.line, place.end_line
    span = where[statement]
    end = span.inner_end
    if isinstance(statement, cst.BaseCompoundStatement) and getattr(statement, "body", None) in where:
        end = where[statement.body].start
    return lines.position(span.inner_start)[0], lines.position(end)[0]


def _fix(
    context: Context,
    draft: Draft,
    pairs: Sequence[tuple[cst.CSTNode, Replacement]],
    where: Mapping[cst.CSTNode, Span],
) -> Fix | None:
    """The edits of a draft, imports included."""
    edits = [edit_of(context.path, context.text, context.module, old, new, where[old]) for old, new in pairs]
    edits = [e for e in edits if e.text != context.text[e.start : e.end]]
    for path, replacements in draft.also.items():
        other = context.other(path)
        if other is None:
            return None
        others = [_lift(other, old, new) for old, new in replacements.items()]
        there = spans(other.module, (old for old, _ in others))
        edits += [edit_of(path, other.text, other.module, old, new, there[old]) for old, new in others]
    if not edits:
        return None
    for need in draft.needs:
        around = context.scope_name(need.at).split(".") if need.at is not None else []
        scopes = [".".join(around[:n]) for n in range(len(around), 0, -1)] if around != [""] else []
        edit = imports.satisfy(context.path, context.text, context.facts, need, (*scopes, ""))
        if edit is not None:
            edits.append(edit)
    return Fix(draft.title, tuple(dict.fromkeys(edits)))


def _lift(context: Context, old: cst.CSTNode, new: Replacement) -> tuple[cst.CSTNode, Replacement]:
    """Removing the only statement of a block, or one of several on a line, is a change of what holds it."""
    if isinstance(new, cst.CSTNode) or new:
        return old, new
    holder = context.parent(old)
    if isinstance(old, cst.BaseSmallStatement) and isinstance(
        holder, (cst.SimpleStatementLine, cst.SimpleStatementSuite)
    ):
        kept = [s for s in holder.body if s is not old]
        if kept:
            kept[-1] = kept[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
            return holder, holder.with_changes(body=kept)
        if isinstance(holder, cst.SimpleStatementSuite):
            return holder, holder.with_changes(body=[cst.Pass()])
        return _lift(context, holder, None)
    if isinstance(holder, cst.IndentedBlock) and len(holder.body) == 1:
        passing = cst.SimpleStatementLine([cst.Pass()], leading_lines=getattr(old, "leading_lines", ()))
        return old, passing
    return old, None


def edit_of(path: str, text: str, module: cst.Module, old: cst.CSTNode, new: Replacement, span: Span) -> Edit:
    """The minimal edit that turns a node into its replacement."""
    end = min(span.end, len(text))
    if new is None:
        start = span.start
        if isinstance(old, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            start = max(start, text.rfind("\n", 0, span.inner_start) + 1)
        return Edit(path, start, end, "")
    nodes = [new] if isinstance(new, cst.CSTNode) else new
    written = "".join(render(module, node, span.indent) for node in nodes)
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
        end = max(start, end)
        return Place(start, end, *self.position(start), *self.position(end))
