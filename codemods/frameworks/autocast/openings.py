"""What switches autocast on: the calls, Fabric's and Accelerate's own, and every alias of the context."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import argument, assigned_to_self, literal
from codemods.analysis.python_context import PythonContext
from codemods.model.names import ACCELERATOR, AUTOCAST, FABRIC
from codemods.project.index import Ref
from codemods.syntax.module import Function, own

DEPTH = 3
"""How far a region is followed along aliases and calls."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What an expression does when it is entered: autocast with a weight cache (`caches`), or without."""

    caches: bool
    call: ast.Call | None = None
    """The call of autocast itself, where it stands right here."""


def opening(ctx: PythonContext, node: ast.expr, depth: int = DEPTH) -> Opening | None:
    """What entering an expression does to autocast; None: nothing that can be told."""
    key = (opening, node, depth)
    if key not in ctx.memo:
        ctx.memo[key] = _opening(ctx, node, depth) if depth >= 0 else None
    found: Opening | None = ctx.memo[key]
    return found


def _opening(ctx: PythonContext, node: ast.expr, depth: int) -> Opening | None:
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            return _together(opening(ctx, arm, depth - 1) for arm in (body, orelse))
        case ast.Call(func=func):
            if ctx.means(func, AUTOCAST):
                return Opening(_caches(ctx, node), node)
            if isinstance(func, ast.Attribute) and func.attr == "autocast" and _engine(ctx, func.value):
                return Opening(True)
            return _made(ctx, node, depth - 1)
        case ast.Name() | ast.Attribute():
            return _alias(ctx, node, depth - 1)
    return None


def _together(found: Iterable[Opening | None]) -> Opening | None:
    opened = [each for each in found if each is not None]
    return Opening(any(each.caches for each in opened)) if opened else None


def _alias(ctx: PythonContext, node: ast.expr, depth: int) -> Opening | None:
    """An alias is a region if every value given to it is one, or a `nullcontext`."""
    found = []
    for where, value in assigned_values(ctx, node):
        each = opening(where, value, depth)
        if each is None and not where.calls(value, "contextlib.nullcontext"):
            return None
        found.append(each)
    return _together(found)


def _made(ctx: PythonContext, call: ast.Call, depth: int) -> Opening | None:
    """`amp()` where amp is a partial, a class picked by a condition, a lambda, or a function that returns a context."""
    if (target := ctx.callee(call)) is not None:
        where, function = target
        if returned := _returned(function):
            return _together(opening(where, value, depth) for value in returned)
        return _manager(where, function, depth)
    found = [_factory(where, value, call, depth) for where, value in assigned_values(ctx, call.func)]
    return _together(found) if found and all(found) else None


def _returned(function: Function) -> list[ast.expr]:
    return [node.value for node in own(function) if isinstance(node, ast.Return) and node.value is not None]


def _factory(ctx: PythonContext, node: ast.expr, call: ast.Call, depth: int) -> Opening | None:
    """What `call` opens, of a `node` that stands for autocast: a partial, a lambda, a choice, a function."""
    if depth < 0:
        return None
    match node:
        case ast.Lambda(body=body):
            return opening(ctx, body, depth)
        case ast.IfExp(body=body, orelse=orelse):
            return _together(_factory(ctx, arm, call, depth - 1) for arm in (body, orelse))
        case ast.Call(func=func, args=[first, *rest], keywords=keywords) if ctx.means(func, "functools.partial"):
            whole = ast.Call(first, [*rest, *call.args], [*keywords, *call.keywords])
            return Opening(_caches(ctx, whole)) if ctx.means(first, AUTOCAST) else None
        case ast.Call() if (target := ctx.callee(node)) is not None:
            where, function = target
            return _together(_factory(where, value, call, depth - 1) for value in _returned(function))
    return Opening(_caches(ctx, ast.Call(node, call.args, call.keywords))) if ctx.means(node, AUTOCAST) else None


def _manager(ctx: PythonContext, function: Function, depth: int) -> Opening | None:
    """A `@contextmanager` that yields inside a region."""
    if not any(ctx.means(decorator, "contextlib.contextmanager") for decorator in function.decorator_list):
        return None
    around = (each for node in own(function) if isinstance(node, ast.Yield) for each in ctx.regions(node))
    return _together(opening(ctx, each.entered, depth) for each in around if each.holder is not function)


def assigned_values(ctx: PythonContext, node: ast.expr) -> list[tuple[PythonContext, ast.expr]]:
    """Every expression that may give a name, or an attribute of `self`, its value; empty where one is unknown."""
    name, method = ctx.name(node), ctx.method(node)
    if name is None:
        return []
    if method is not None and name.startswith(method.self + ".") and name.count(".") == 1:
        return _attribute(ctx, method.owner, name.partition(".")[2])
    bindings = ctx.assigned(node) or []
    given = [(ctx, b.value) for b in bindings if b.value is not None]
    return given if len(given) == len(bindings) else []


def _attribute(ctx: PythonContext, owner: Ref, attribute: str) -> list[tuple[PythonContext, ast.expr]]:
    found: list[tuple[PythonContext, ast.expr]] = []
    for ref in ctx.index.lineage(owner).refs:
        where = ctx.other(ref.path)
        classes = where.classes(ref.name) if where is not None else []
        if where is None or len(classes) != 1:
            return []
        for binding in assigned_to_self(where, classes[0], attribute):
            if binding.value is None:
                return []
            found.append((where, binding.value))
    return found


def _engine(ctx: PythonContext, receiver: ast.expr) -> bool:
    """Whether `receiver.autocast()` is that of a Fabric or an Accelerator (by class, else by name)."""
    if (kind := instances.of(ctx, receiver)) is not None:
        return kind.names <= FABRIC | ACCELERATOR
    return (ctx.name(receiver) or "").rpartition(".")[2].lower() in ("fabric", "accelerator", "accel")


def _caches(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call of autocast may switch it on with its cache."""
    first = 2 if ctx.means(call.func, "torch.autocast") else 0
    spread = [k.value for k in call.keywords if k.arg is None]
    for name, position in (("enabled", first), ("cache_enabled", first + 1 if first else 2)):
        given = argument(call, name, position)
        if given is not None and _is_false(ctx, given):
            return False
        if given is None and any(_hidden_false(ctx, each, name) for each in spread):
            return False
    return True


def _is_false(ctx: PythonContext, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        bindings = ctx.assigned(node) or []
        return len(bindings) == 1 and literal(bindings[0].value) is False
    return literal(node) is False


def _hidden_false(ctx: PythonContext, spread: ast.expr, name: str) -> bool:
    """Whether `**options` is a dict in sight that switches something off."""
    for value in [spread, *(v for _, v in assigned_values(ctx, spread))]:
        match value:
            case ast.Dict(keys=keys, values=values):
                if any(literal(k) == name and literal(v) is False for k, v in zip(keys, values, strict=True)):
                    return True
            case ast.Call(func=ast.Name(id="dict"), keywords=given):
                if any(k.arg == name and literal(k.value) is False for k in given):
                    return True
    return False
