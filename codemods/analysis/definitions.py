"""Which assignments give a name its value at a place, and which places read what an assignment binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis.python_context import Binding, PythonContext
from codemods.syntax.module import LOOPS, own


def reaching(ctx: PythonContext, use: ast.expr) -> tuple[Sequence[Binding], bool]:
    """The assignments in its function that may give `use` (`loss`, `self.loss`) its value; True: there is no other."""
    key = (reaching, use)
    if key not in ctx.memo:
        ctx.memo[key] = _reaching(ctx, use)
    found: tuple[Sequence[Binding], bool] = ctx.memo[key]
    return found


def _reaching(ctx: PythonContext, use: ast.expr) -> tuple[Sequence[Binding], bool]:
    scope = ctx.scope(use)
    flow = ctx.flow_of(scope)
    given = list(ctx.bindings(scope).get(ctx.name(use) or "", ()))
    before = [b for b in given if flow.reaches(_place(b), use)]
    certain = [i for i, b in enumerate(before) if flow.dominates(_place(b), use)]
    kept = before[certain[-1] :] if certain else before
    first = kept[0].node if certain else None
    known = set(map(id, kept))
    for b in given:
        if id(b) not in known and flow.comes_round(_place(b), use):
            loop = flow.loop(_place(b), use)
            if first is None or loop is None or loop not in ctx.ancestors(first):
                kept.append(b)
    return kept, bool(certain)


def _place(binding: Binding) -> ast.AST:
    """What is evaluated when a name is bound: of a loop its target."""
    return binding.node.target if isinstance(binding.node, LOOPS[:2]) else binding.node


def uses(ctx: PythonContext, name: str, after: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The places in the function of `after` that read a name (`loss`, `self.loss`)."""
    key = (uses, scope := ctx.scope(after))
    if key not in ctx.memo:
        found: dict[str, list[ast.Name | ast.Attribute]] = {}
        for node in own(scope):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
                if (written := ctx.name(node)) is not None:
                    found.setdefault(written, []).append(node)
        ctx.memo[key] = found
    yield from ctx.memo[key].get(name, ())


def uses_of(ctx: PythonContext, assignment: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The places in its function that may read what an assignment to one target binds."""
    match assignment:
        case ast.Assign(targets=[target]):
            pass
        case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            pass
        case _:
            return
    key = (uses_of, ctx.scope(assignment), name := ctx.name(target) or "")
    if key not in ctx.memo:
        readers: dict[ast.AST, list[ast.Name | ast.Attribute]] = {}
        for use in uses(ctx, name, assignment):
            for node in {b.node for b in reaching(ctx, use)[0]}:
                readers.setdefault(node, []).append(use)
        ctx.memo[key] = readers
    yield from ctx.memo[key].get(assignment, ())


def unused_name(ctx: PythonContext, *candidates: str) -> str:
    """The first of some names that the file does not use for anything, else one with a number."""
    key = (unused_name,)
    if key not in ctx.memo:
        taken = {n.id for n in ctx.all(ast.Name)} | {n.attr for n in ctx.all(ast.Attribute)}
        ctx.memo[key] = taken | {i.name for i in ctx.facts.imports} | set(ctx.facts.rebound)
    names: set[str] = ctx.memo[key]
    numbered = (f"{candidates[0]}_{number}" for number in range(len(names) + 1))
    return next(name for name in (*candidates, *numbered) if name not in names)
