"""Closures that are read late: the recomputation runs during the backward, and sees what a variable holds by then."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.syntax.module import FUNCTIONS, Function, own, walk


def late_bound(ctx: PythonContext, site: ast.expr) -> str | None:
    """A variable that a checkpointed closure reads, and that gets another value after the checkpoint was called.

    The recomputation then works on other data than the forward did, whichever variant is used.
    """
    for name in _captured(ctx, site):
        scope = ctx.scope(site)
        while isinstance(scope, (*FUNCTIONS, ast.Lambda)):
            if isinstance(scope, FUNCTIONS):
                bindings = ctx.bindings(scope).get(name, ())
                if any(_comes_later(ctx, scope, site, binding.node) for binding in bindings):
                    return name
                if bindings:
                    break
            scope = ctx.scope(scope)
    return None


def _comes_later(ctx: PythonContext, scope: Function, site: ast.expr, binding: ast.AST) -> bool:
    around = set(ctx.ancestors(site))
    if isinstance(binding, ast.comprehension):
        return ctx.parent(binding) in around
    if isinstance(binding, FUNCTIONS):
        return False
    # `x = x + checkpoint(lambda: f(x))` assigns once the call is over; a loop around gives its variable a new value.
    flow = ctx.flow_of(scope)
    return binding in around or flow.reaches(site, binding) or flow.comes_round(site, binding)


def _captured(ctx: PythonContext, site: ast.expr) -> Iterator[str]:
    """The free variables of the lambdas in an expression, and of the functions it names that are defined around."""
    waiting: list[ast.AST] = [site]
    seen: set[ast.AST] = set()
    while waiting:
        root = waiting.pop()
        for node in walk(root):
            if isinstance(node, (ast.Lambda, *FUNCTIONS)) and node not in seen:
                seen.add(node)
                yield from sorted(_free(ctx, node))
            if isinstance(node, ast.Name):
                waiting += [f for f in _local_functions(ctx, node) if f not in seen]


def _local_functions(ctx: PythonContext, name: ast.Name) -> Iterator[Function]:
    scope = ctx.scope(name)
    while not isinstance(scope, ast.Module):
        if isinstance(scope, FUNCTIONS):
            for binding in ctx.bindings(scope).get(name.id, ()):
                if isinstance(binding.node, FUNCTIONS):
                    yield binding.node
        scope = ctx.scope(scope)


def _free(ctx: PythonContext, function: Function | ast.Lambda) -> set[str]:
    """The names that a function reads and does not bind."""
    read: set[str] = set()
    for node in own(function):
        if isinstance(node, (ast.Lambda, *FUNCTIONS)):
            read |= _free(ctx, node)
        elif isinstance(node, ast.Name):
            read.add(node.id)
    return read - ctx.parameter_names(function) - set(ctx.bindings(function))
