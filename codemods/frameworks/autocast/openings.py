"""What switches autocast on: the calls, Fabric's and Accelerate's own, and every alias of the context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods.model.names import ACCELERATOR, AUTOCAST, FABRIC
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import argument, literal

DEPTH = 3
"""How far a region is followed along aliases and calls."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What an expression does when it is entered: autocast with a weight cache (`caches`), or without."""

    caches: bool
    call: cst.Call | None = None
    """The call of autocast itself, where it stands right here."""


def opening(ctx: Context, node: cst.CSTNode, depth: int = DEPTH) -> Opening | None:
    """What entering an expression does to autocast; None: nothing that can be told."""
    if depth < 0:
        return None
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            return _together(opening(ctx, arm, depth - 1) for arm in (body, orelse))
        case cst.Call(func=func):
            if ctx.means(func, AUTOCAST):
                return Opening(_caches(ctx, func, node.args), node)
            if isinstance(func, cst.Attribute) and func.attr.value == "autocast" and _engine(ctx, func.value):
                return Opening(True)
            return _made(ctx, node, depth - 1)
        case cst.Name() | cst.Attribute():
            return _alias(ctx, node, depth - 1)
        case _:
            return None


def _together(found: Iterator[Opening | None]) -> Opening | None:
    opened = [each for each in found if each is not None]
    return Opening(any(each.caches for each in opened)) if opened else None


def _alias(ctx: Context, node: cst.CSTNode, depth: int) -> Opening | None:
    """An alias is a region if every value given to it is one, or a `nullcontext`."""
    found = []
    for where, value in values(ctx, node):
        each = opening(where, value, depth)
        if each is None and not where.calls(value, "contextlib.nullcontext"):
            return None
        found.append(each)
    return _together(iter(found))


def _made(ctx: Context, call: cst.Call, depth: int) -> Opening | None:
    """`amp()` where amp is a partial, a class picked by a condition, a lambda, or a function that returns a context."""
    if (target := ctx.callee(call)) is not None:
        where, function = target
        returned = [node.value for node in flow.own(function.body) if isinstance(node, cst.Return) and node.value]
        if returned:
            return _together(opening(where, value, depth) for value in returned)
        return _manager(where, function, depth)
    found = [_factory(where, value, call.args, depth) for where, value in values(ctx, call.func)]
    return _together(iter(found)) if found and all(found) else None


def _factory(ctx: Context, node: cst.BaseExpression, args: Sequence[cst.Arg], depth: int) -> Opening | None:
    """What `node(*args)` opens, for a node that stands for autocast: a partial, a lambda, a choice, a function."""
    if depth < 0:
        return None
    match node:
        case cst.Lambda(body=body):
            return opening(ctx, body, depth)
        case cst.IfExp(body=body, orelse=orelse):
            return _together(_factory(ctx, arm, args, depth - 1) for arm in (body, orelse))
        case cst.Call(func=func, args=[cst.Arg(value=first), *rest]) if ctx.means(func, "functools.partial"):
            return Opening(_caches(ctx, first, [*rest, *args])) if ctx.means(first, AUTOCAST) else None
        case cst.Call() if (target := ctx.callee(node)) is not None:
            where, function = target
            returned = [n.value for n in flow.own(function.body) if isinstance(n, cst.Return) and n.value]
            return _together(_factory(where, value, args, depth - 1) for value in returned)
        case _:
            return Opening(_caches(ctx, node, args)) if ctx.means(node, AUTOCAST) else None


def _manager(ctx: Context, function: cst.FunctionDef, depth: int) -> Opening | None:
    """A `@contextmanager` that yields inside a region."""
    if not any(ctx.means(d.decorator, "contextlib.contextmanager") for d in function.decorators):
        return None
    yields = [node for node in flow.own(function.body) if isinstance(node, cst.Yield)]
    around = (a for node in yields for a in ctx.ancestors(node) if isinstance(a, cst.With))
    return _together(opening(ctx, item.item, depth) for each in around for item in each.items)


def values(ctx: Context, node: cst.CSTNode) -> list[tuple[Context, cst.BaseExpression]]:
    """Every expression that may give a name, or an attribute of `self`, its value; empty where one is unknown."""
    name, method = ctx.name(node), ctx.method(node)
    if name is None:
        return []
    if method is not None and name.startswith(method.self + ".") and name.count(".") == 1:
        return _attribute(ctx, node, name.partition(".")[2])
    bindings = ctx.assigned(node) or []
    given = [(ctx, b.value) for b in bindings if b.value is not None]
    return given if len(given) == len(bindings) else []


def _attribute(ctx: Context, node: cst.CSTNode, attribute: str) -> list[tuple[Context, cst.BaseExpression]]:
    owner = ctx.klass(node)
    found: list[tuple[Context, cst.BaseExpression]] = []
    for ref in ctx.index.lineage(owner).refs if owner else ():
        where = ctx.other(ref.path)
        classes = where.classes(ref.name) if where is not None else []
        if where is None or len(classes) != 1:
            return []
        for function in classes[0].body.body:
            if not isinstance(function, cst.FunctionDef) or not function.params.params:
                continue
            if not where.says(function, attribute):
                continue
            for b in where.bindings(function).get(f"{function.params.params[0].name.value}.{attribute}", ()):
                if b.value is None:
                    return []
                found.append((where, b.value))
    return found


def _engine(ctx: Context, receiver: cst.BaseExpression) -> bool:
    """Whether `receiver.autocast()` is that of a Fabric or an Accelerator (by kind, else by name)."""
    if ctx.kind(receiver) is not None:
        return ctx.is_a(receiver, FABRIC | ACCELERATOR)
    return (ctx.name(receiver) or "").rpartition(".")[2].lower() in ("fabric", "accelerator", "accel")


def _caches(ctx: Context, func: cst.BaseExpression, args: Sequence[cst.Arg]) -> bool:
    """Whether a call of autocast may switch it on with its cache."""
    call = cst.Call(cst.Name("autocast"), args)
    first = 2 if ctx.means(func, "torch.autocast") else 0
    for name, position in (("enabled", first), ("cache_enabled", first + 1 if first else 2)):
        given = argument(call, name, position)
        if given is not None and _is_false(ctx, given.value):
            return False
        if given is None and any(_hidden_false(ctx, arg, name) for arg in args if arg.star == "**"):
            return False
    return True


def _is_false(ctx: Context, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Name) and literal(node) is ...:
        bindings = ctx.assigned(node) or []
        return len(bindings) == 1 and bindings[0].value is not None and literal(bindings[0].value) is False
    return literal(node) is False


def _hidden_false(ctx: Context, arg: cst.Arg, name: str) -> bool:
    """Whether `**options` is a dict in sight that switches something off."""
    for value in [arg.value, *(v for _, v in values(ctx, arg.value))]:
        match value:
            case cst.Dict(elements=elements):
                for e in elements:
                    if isinstance(e, cst.DictElement) and literal(e.key) == name and literal(e.value) is False:
                        return True
            case cst.Call(func=cst.Name(value="dict"), args=given):
                if any(a.keyword and a.keyword.value == name and literal(a.value) is False for a in given):
                    return True
    return False
