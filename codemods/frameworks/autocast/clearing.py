"""Where `torch.clear_autocast_cache()` goes, so that every way out of a block passes it."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.analysis.definitions import unused_name
from codemods.analysis.exits import falls_through, ways_out
from codemods.analysis.python_context import PythonContext
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, insert_after, insert_before, name_result

_NAMES = ("result", "output", "value", "returned")


def cleared(ctx: PythonContext, block: Sequence[ast.stmt], sources: Sequence[ast.AST], code: str) -> list[Verb] | None:
    """`code` as the last thing that some statements do after `sources` (the uses to be forgotten), on every way out.

    Before a `return`, with its value bound first; where other ways lead out, directly after the one statement that
    holds the sources. None where that is no plain statement of its own.
    """
    generator = any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own(ctx.scope(sources[0])))
    fix: list[Verb] = []
    for _, node in (way for each in block for way in ways_out(each)):
        if not any(_leads(ctx, source, node) for source in sources):
            continue
        if not isinstance(node, ast.Return) or generator:
            return _after_call(ctx, sources, code)
        if node.value is None or _is_finished(node.value):
            fix.append(insert_before(node, code))
        else:
            fix.append(name_result(node, unused_name(ctx, *_NAMES), code))
    if falls_through(block):
        fix.append(insert_after(block[-1], code))
    return fix


def _leads(ctx: PythonContext, source: ast.AST, way: ast.AST) -> bool:
    """Whether `source` may have run when the block is left by `way`."""
    flow = ctx.flow_of(ctx.scope(source))
    if flow.stands_before(way, source):
        return flow.comes_round(source, way)
    return not flow.apart(source, way)


def _after_call(ctx: PythonContext, sources: Sequence[ast.AST], code: str) -> list[Verb] | None:
    """`code` after the one plain statement that holds all the sources."""
    statements = {ctx.statement(source) for source in sources}
    only = statements.pop()
    if statements or not isinstance(only, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)):
        return None
    return None if any(ways_out(only)) else [insert_after(only, code)]


def _is_finished(value: ast.expr) -> bool:
    """Whether nothing is computed any more: names, attributes and literals, also in a tuple."""
    if isinstance(value, ast.Tuple):
        return all(_is_finished(each) for each in value.elts)
    if isinstance(value, ast.Attribute):
        return _is_finished(value.value)
    return isinstance(value, (ast.Name, ast.Constant))
