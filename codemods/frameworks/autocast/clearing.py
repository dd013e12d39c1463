"""Where `torch.clear_autocast_cache()` goes, so that every way out of a block passes it."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import Replacement, insert, small

_NAMES = ("result", "output", "value", "returned")
Replacements = dict[cst.CSTNode, Replacement]


def cleared(
    ctx: Context, block: Sequence[cst.CSTNode], sources: Sequence[cst.CSTNode], code: str
) -> Replacements | None:
    """`code` as the last thing that some statements do after `sources` (the uses to be forgotten), on every way out.

    Before a `return`, with its value bound first; where other ways lead out, directly after the one statement that
    holds the sources. None where that is no plain statement of its own.
    """
    function = ctx.scope(sources[0])
    generator = isinstance(function, cst.FunctionDef) and any(isinstance(n, cst.Yield) for n in flow.own(function.body))
    edits: Replacements = {}
    for _, node in (way for each in block for way in flow.ways_out(each)):
        if not any(_leads(ctx, source, node) for source in sources):
            continue
        if not isinstance(node, cst.Return) or generator:
            return _after_call(ctx, sources, code)
        edits |= _before_return(ctx, node, code)
    if all(flow.falls_through(each) for each in block):
        last = block[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        edits |= insert(ctx, last, [code], after=True)
    return edits


def _leads(ctx: Context, source: cst.CSTNode, way: cst.CSTNode) -> bool:
    """Whether `source` may have run when the block is left by `way`."""
    order = flow.order(ctx.parents, source, way)
    if order is flow.Order.AFTER:
        return flow.comes_round(ctx.parents, source, way)
    return order is not flow.Order.EXCLUSIVE


def _after_call(ctx: Context, sources: Sequence[cst.CSTNode], code: str) -> Replacements | None:
    """`code` after the one plain statement that holds all the sources."""
    statements = {ctx.statement(source) for source in sources}
    only = statements.pop()
    if statements or not isinstance(only, (cst.Assign, cst.AnnAssign, cst.AugAssign, cst.Expr)):
        return None
    return None if flow.exits(only) else insert(ctx, only, [code], after=True)


def _before_return(ctx: Context, node: cst.Return, code: str) -> Replacements:
    """`return f(x)` → `result = f(x)`, `code`, `return result`."""
    if node.value is None or _is_finished(node.value):
        return insert(ctx, node, [code], after=False)
    taken = {name.value for name in ctx.all(cst.Name)}
    name = next(n for n in (*_NAMES, *(f"result_{i}" for i in range(len(taken) + 1))) if n not in taken)
    value = node.value
    if (
        isinstance(value, cst.Tuple)
        and not value.lpar
        and any(isinstance(e, cst.StarredElement) for e in value.elements)
    ):
        value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    bound = cst.Assign([cst.AssignTarget(cst.Name(name))], value)
    again = cst.Return(cst.Name(name))
    line = ctx.parent(node)
    if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1:
        first = line.with_changes(body=[bound])
        return {line: [first, cst.SimpleStatementLine([small(ctx, code)]), cst.SimpleStatementLine([again])]}
    assert isinstance(line, (cst.SimpleStatementLine, cst.SimpleStatementSuite))
    between = cst.Semicolon(whitespace_after=cst.SimpleWhitespace(" "))
    front = [s for s in line.body if s is not node]
    new = [bound.with_changes(semicolon=between), small(ctx, code).with_changes(semicolon=between), again]
    return {line: line.with_changes(body=[*front, *new])}


def _is_finished(value: cst.BaseExpression) -> bool:
    """Whether nothing is computed any more: names, attributes and literals, also in a tuple."""
    if isinstance(value, cst.Tuple):
        return all(isinstance(e, cst.Element) and _is_finished(e.value) for e in value.elements)
    if isinstance(value, cst.Attribute):
        return _is_finished(value.value)
    return isinstance(value, (cst.Name, cst.Integer, cst.Float, cst.SimpleString))
