"""What the calls of a line are of, as far as it is known: for a person who asks why no rule speaks there."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.python_context import PythonContext
from codemods.syntax.module import FUNCTIONS

MOST = 8
"""Sentences."""
_SHOWN_BY = {"constructor": "", "annotation": ", by its annotation", "protocol": ", by the methods called on it"}


def on_lines(ctx: PythonContext, first: int, last: int) -> tuple[str, ...]:
    """A sentence for each function, and each object whose method is called, on some lines."""
    calls = (call for call in ctx.all(ast.Call) if first <= (call.func.end_lineno or 0) <= last)
    ordered = sorted(calls, key=lambda call: (call.func.end_lineno or 0, call.func.end_col_offset or 0))
    return tuple(dict.fromkeys(sentence for call in ordered for sentence in _told(ctx, call)))[:MOST]


def _told(ctx: PythonContext, call: ast.Call) -> Iterator[str]:
    func = call.func
    name = ctx.name(func)
    if name is None:
        return
    if origins := ctx.origin(func):
        if name not in origins:
            yield f"`{name}` is {_named(origins)}"
    elif isinstance(func, ast.Attribute):
        yield _object(ctx, func.value)
    elif (method := ctx.method(func)) is not None and name == method.self:
        yield _object(ctx, func)
    elif not hasattr(builtins, name):
        yield f"`{name}` is {_bound(ctx, func)}: what it does is not known"


def _object(ctx: PythonContext, node: ast.expr) -> str:
    """What is known of the object whose method is called."""
    name = ctx.name(node)
    method = ctx.method(node)
    if method is not None and name == method.self:
        return f"`{name}` is an instance of {_named(frozenset({str(method.owner)}))}"
    if (kind := instances.of(ctx, node)) is not None:
        return f"`{name}` is an instance of {_named(kind.names)}{_SHOWN_BY[kind.how]}"
    if isinstance(node, ast.Name):
        return f"`{name}` is {_bound(ctx, node)}: its class is not known"
    return f"`{name}`: its class is not known"


def _bound(ctx: PythonContext, node: ast.expr) -> str:
    """Where a plain name gets its value."""
    name = ctx.name(node) or ""
    for above in ctx.ancestors(node):
        if isinstance(above, ast.Lambda) and name in ctx.parameter_names(above):
            return "a parameter"
        if isinstance(above, FUNCTIONS):
            if name in ctx.parameter_names(above):
                return f"a parameter of `{above.name}`"
            if name in ctx.bindings(above):
                break
    lines = sorted({getattr(each.node, "lineno", 0) for each in ctx.assigned(node) or ()} - {0})
    if not lines:
        return "bound nowhere in sight"
    more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
    return f"bound at line {lines[0]}{more}"


def _named(origins: frozenset[str]) -> str:
    """Canonical names, and classes and functions of the project (`path.py:Name`), in words."""
    shown = []
    for origin in sorted(origins):
        path, colon, name = origin.partition(":")
        shown.append(f"`{name}` of {path}" if colon else f"`{origin}`")
    return " or ".join(shown)
