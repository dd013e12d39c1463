"""What a value may be made of, in one function: by assignment, unpacking, loops, containers and changes in place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.syntax.module import FUNCTIONS, Scope, own

PUTTING = frozenset(
    {"append", "appendleft", "add", "extend", "insert", "update", "setdefault", "put", "put_nowait", "push"}
)
"""Methods of containers that keep what they are given."""


def sources(ctx: PythonContext, scope: Scope, expression: ast.AST) -> Iterator[ast.AST]:
    """The nodes of an expression, and of everything in `scope` that may flow into a name in it, each once.

    Parameters, and names that others bind, end the way.
    """
    known = flows(ctx, scope) if isinstance(scope, (ast.Module, *FUNCTIONS)) else {}
    seen, waiting, names = {expression}, [expression], set[str]()
    while waiting:
        value = waiting.pop(0)
        for node in (value, *own(value)):
            yield node
            name = ctx.name(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
            if name is not None and name not in names:
                names.add(name)
                new = [each for each in known.get(name, ()) if each not in seen]
                seen.update(new)
                waiting += new


def carried(ctx: PythonContext, scope: Scope, expression: ast.expr) -> Iterator[ast.expr]:
    """The expressions that may be the value of another one: through names and containers, not through calls."""
    known = flows(ctx, scope) if isinstance(scope, (ast.Module, *FUNCTIONS)) else {}
    seen, waiting = set[ast.expr](), [expression]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.BoolOp(values=parts):
                waiting += parts
            case ast.Dict(values=parts):
                waiting += parts
            case ast.IfExp(body=body, orelse=orelse):
                waiting += [body, orelse]
            case ast.Starred(value=inner) | ast.NamedExpr(value=inner) | ast.ListComp(elt=inner):
                waiting.append(inner)
            case ast.Subscript(value=inner):
                waiting.append(inner)
            case ast.Name() | ast.Attribute() if (name := ctx.name(node)) is not None and known.get(name):
                waiting += known[name]
            case _:
                yield node


def flows(ctx: PythonContext, scope: Scope) -> dict[str, list[ast.expr]]:
    """What may flow into each name of a function, dotted ones too."""
    key = (flows, scope)
    if key not in ctx.memo:
        found: dict[str, list[ast.expr]] = {}
        for node in own(scope):
            for target, value in _pairs(node):
                if (name := _holder(ctx, target)) is not None:
                    found.setdefault(name, []).append(value)
        ctx.memo[key] = found
    kept: dict[str, list[ast.expr]] = ctx.memo[key]
    return kept


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr | str, ast.expr]]:
    """Where a node puts values, each with the value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.AugAssign(target=target, value=value):
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield from _unpacked(target, value)
        case ast.comprehension(target=target, iter=value):
            yield from _unpacked(target, value)
        case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
            yield from _unpacked(target, value)
        case ast.Match(subject=value, cases=cases):
            for each in cases:
                for pattern in ast.walk(each.pattern):
                    match pattern:
                        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                            yield name, value
                        case ast.MatchMapping(rest=str(name)):
                            yield name, value
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if _keeps(method):
            for value in (*node.args, *(each.value for each in node.keywords)):
                yield owner, value


def _keeps(method: str) -> bool:
    """Whether a method changes what it is called on: of a container, or of a tensor in place."""
    return method in PUTTING or (method.endswith("_") and not method.endswith("__"))


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The names in a target, each with what it may be."""
    if isinstance(target, ast.Starred):
        yield from _unpacked(target.value, value)
        return
    if not isinstance(target, (ast.Tuple, ast.List)):
        yield target, value
        return
    several = value.elts if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts) else None
    plain = several is not None and not any(isinstance(each, ast.Starred) for each in (*several, *target.elts))
    for number, element in enumerate(target.elts):
        yield from _unpacked(element, several[number] if several is not None and plain else value)


def _holder(ctx: PythonContext, target: ast.expr | str) -> str | None:
    """The name of what holds a value: `losses` of `losses["total"][0]`."""
    if isinstance(target, str):
        return target
    while isinstance(target, (ast.Subscript, ast.Call)):
        target = target.value if isinstance(target, ast.Subscript) else target.func
    return ctx.name(target)
