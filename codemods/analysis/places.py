"""Where the project defines what a file calls or imports: what a finding names where it follows no further."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.model.edits import Evidence
from codemods.project.index import Index, Ref
from codemods.syntax.facts import Import, Unknown
from codemods.syntax.module import Function

_BINDING = "functools.partial"


def where_defined(ctx: PythonContext, node: ast.expr, why: str, at: ast.expr | ast.stmt) -> Evidence:
    """Where the project defines what an expression calls or names, or what makes that, as what shows a claim.

    Args:
        at: the place to name where that is not in sight.
    """
    is_bound = isinstance(node, ast.Call) and ctx.means(node.func, _BINDING)
    func = node.func if isinstance(node, ast.Call) and not is_bound else node
    for there, found in (*_definitions(ctx, func), *_makers(ctx, func)):
        return there.evidence(found, why)
    named = ctx.facts.named(func.id) if isinstance(func, ast.Name) and func.id not in ctx.facts.rebound else ()
    imported = (where_imported(ctx, each, why) for each in named)
    return next((each for each in imported if each.path != ctx.path), ctx.evidence(at, why))


def _definitions(ctx: PythonContext, func: ast.expr) -> Iterator[tuple[PythonContext, ast.ClassDef | Function]]:
    """Functions and classes by their name, methods of objects whose class is known, and what calling an object runs."""
    for origin in ctx.origin(func):
        path, inside, qualified = origin.partition(":")
        there = ctx.other(path) if inside else None
        yield from ((there, node) for node in there.definitions(qualified)) if there is not None else ()
    held, names = (func.value, (func.attr,)) if isinstance(func, ast.Attribute) else (func, ("__call__", "forward"))
    kind = instances.of(ctx, held)
    for ref in (Ref.of(name) for name in (kind.names if kind is not None else ()) if ":" in name):
        for name in names:
            place = ctx.index.method(ref, name)
            there = ctx.other(place.path) if place is not None else None
            if there is not None and place is not None:
                yield from ((there, node) for node in there.definitions(f"{place.name}.{name}"))


def _makers(ctx: PythonContext, func: ast.expr) -> Iterator[tuple[PythonContext, ast.ClassDef | Function]]:
    """What makes the object that is called: `criterion` of `criterion = per_window(nn.MSELoss(), 4)`."""
    for each in possible_values(ctx, func)[0]:
        match each.node:
            case ast.Call(func=maker, args=[first, *_]) if each.ctx.means(maker, _BINDING):
                yield from _definitions(each.ctx, first)
            case ast.Call(func=maker):
                yield from _definitions(each.ctx, maker)


def where_imported(ctx: PythonContext, each: Import, why: str) -> Evidence:
    """Where the project defines what a file imports, as what shows a claim; else the import."""
    module = file_of(ctx.index, ctx.path, each)
    line = _line_of(ctx, each, module) if isinstance(module, str) else None
    return Evidence(str(module), line, why) if line is not None else Evidence(ctx.path, each.line, why)


def _line_of(ctx: PythonContext, each: Import, module: str) -> int | None:
    """Where a file defines what another one takes of it: by its name, or as an attribute of the module."""
    there = ctx.other(module)
    if there is None:
        return None
    used = [node.attr for node in ctx.all(ast.Attribute) if ctx.name(node.value) == each.name]
    for name in (each.target.rpartition(".")[2], *used):
        if found := there.definitions(name):
            return found[0].lineno
        for binding in there.bindings(there.module.tree).get(name, ()):
            return getattr(binding.node, "lineno", None)
    return None


def file_of(index: Index, importer: str, each: Import) -> str | Unknown | None:
    """The file of the project that an import takes, or takes a name from."""
    owner = each.target.rpartition(".")[0]
    found = [index.module(importer, name) for name in (each.target, owner) if name]
    return next((path for path in found if isinstance(path, str)), next((path for path in found if path), None))
