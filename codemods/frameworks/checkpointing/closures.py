"""Closures that are read late: the recomputation runs during the backward, and sees what a variable holds by then."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.checkpointing.frames import parameters
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.tree import walk


def late_bound(ctx: Context, site: cst.BaseExpression) -> str | None:
    """A variable that a checkpointed closure reads, and that gets another value after the checkpoint was called.

    The recomputation then works on other data than the forward did, whichever variant is used.
    """
    for name in _captured(ctx, site):
        scope = ctx.scope(site)
        while isinstance(scope, (cst.FunctionDef, cst.Lambda)):
            if isinstance(scope, cst.FunctionDef):
                bindings = ctx.bindings(scope).get(name, ())
                if any(_comes_later(ctx, site, binding.node) for binding in bindings):
                    return name
                if bindings:
                    break
            scope = ctx.scope(scope)
    return None


def _comes_later(ctx: Context, site: cst.CSTNode, binding: cst.CSTNode) -> bool:
    around = set(ctx.ancestors(site))
    if isinstance(binding, cst.CompFor):
        return ctx.parent(binding) in around
    if isinstance(binding, cst.FunctionDef):
        return False
    # `x = x + checkpoint(lambda: f(x))` assigns once the call is over; a loop around gives its variable a new value.
    return binding in around or (
        flow.reaches(ctx.parents, site, binding) or flow.comes_round(ctx.parents, site, binding)
    )


def _captured(ctx: Context, site: cst.BaseExpression) -> Iterator[str]:
    """The free variables of the lambdas in an expression, and of the functions it names that are defined around."""
    waiting: list[cst.CSTNode] = [site]
    seen: set[cst.CSTNode] = set()
    while waiting:
        root = waiting.pop()
        for node in walk(root):
            if isinstance(node, (cst.Lambda, cst.FunctionDef)) and node not in seen:
                seen.add(node)
                yield from sorted(_free(ctx, node))
            if isinstance(node, cst.Name):
                waiting += [f for f in _local_functions(ctx, node) if f not in seen]


def _local_functions(ctx: Context, name: cst.Name) -> Iterator[cst.FunctionDef]:
    scope = ctx.scope(name)
    while not isinstance(scope, cst.Module):
        if isinstance(scope, cst.FunctionDef):
            for binding in ctx.bindings(scope).get(name.value, ()):
                if isinstance(binding.node, cst.FunctionDef):
                    yield binding.node
        scope = ctx.scope(scope)


def _free(ctx: Context, function: cst.FunctionDef | cst.Lambda) -> set[str]:
    """The names that a function reads and does not bind."""
    own = {p.name.value for p in parameters(function)}
    if isinstance(function, cst.FunctionDef):
        own |= set(ctx.bindings(function))
    read: set[str] = set()
    for node in (function.body, *flow.own(function.body)):
        if isinstance(node, (cst.Lambda, cst.FunctionDef)):
            read |= _free(ctx, node)
        elif isinstance(node, cst.Name):
            read.add(node.value)
    return read - own
