"""What switches autocast on: the calls, Fabric's and Accelerate's own, and every alias of the context."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import argument, is_set_elsewhere, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import Following, PossibleValue, behind, possible_values, returned
from codemods.model.names import ACCELERATOR, AUTOCAST, FABRIC
from codemods.syntax.module import Function, is_none, own

DEPTH = 3
"""How far a region is followed along calls."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What an expression does when it is entered: autocast with a weight cache (`caches`), or without."""

    caches: bool
    call: ast.Call | None = None
    """The call of autocast itself, where it stands right here."""
    in_doubt: bool = False
    """Options that are not in sight may switch the cache off."""


def opening(ctx: PythonContext, node: ast.expr) -> Opening | None:
    """What entering an expression does to autocast; None: nothing that can be told."""
    key = (opening, node)
    if key not in ctx.memo:
        ctx.memo[key] = _opening(PossibleValue(ctx, node, following=Following(returns=True)))
    found: Opening | None = ctx.memo[key]
    return found


def _opening(value: PossibleValue) -> Opening | None:
    ctx, node = value.ctx, value.node
    if isinstance(node, ast.Call) and not value.path:
        if ctx.means(node.func, AUTOCAST):
            return Opening(_caches(ctx, node), node, _hides_options(ctx, node))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "autocast" and _engine(ctx, node.func.value):
            return Opening(True)
        if (target := ctx.callee(node)) is None:
            return _factory(value.at(node.func), node) or _joined(value, _opening)
        if not returned(target[1]):
            return _manager(value, *target)
    return _joined(value, _opening)


def _joined(value: PossibleValue, ask: Callable[[PossibleValue], Opening | None]) -> Opening | None:
    """Of a choice one region is enough; what is assigned must be one each time, or a `nullcontext`, or None."""
    step = behind(value)
    found = [(each, ask(each)) for each in step.values] if step is not None and step.complete else []
    if step is not None and not step.by_choice and not all(each or _is_idle(behind_it) for behind_it, each in found):
        return None
    return _together(each for _, each in found)


def _is_idle(value: PossibleValue) -> bool:
    return is_none(value.node) or value.ctx.calls(value.node, "contextlib.nullcontext")


def _together(found: Iterable[Opening | None]) -> Opening | None:
    opened = [each for each in found if each is not None]
    in_doubt = any(each.in_doubt for each in opened)
    return Opening(any(each.caches for each in opened), in_doubt=in_doubt) if opened else None


def _factory(value: PossibleValue, call: ast.Call) -> Opening | None:
    """What `call` opens, where it calls this value: a partial, a lambda, a choice, what a function returns."""
    ctx = value.ctx
    match value.node:
        case ast.Lambda(body=body):
            return _opening(value.at(body))
        case ast.Call(func=func, args=[first, *rest], keywords=keywords) if ctx.means(func, "functools.partial"):
            whole = ast.Call(first, [*rest, *call.args], [*keywords, *call.keywords])
            if ctx.means(first, AUTOCAST):
                return Opening(_caches(ctx, whole), in_doubt=_hides_options(ctx, whole))
            return None
        case ast.expr() as named if ctx.means(named, AUTOCAST):
            made = ast.Call(named, call.args, call.keywords)
            return Opening(_caches(ctx, made), in_doubt=_hides_options(ctx, made))
    return _joined(value, lambda each: _factory(each, call))


def _manager(value: PossibleValue, ctx: PythonContext, function: Function) -> Opening | None:
    """A `@contextmanager` that yields inside a region."""
    if not any(ctx.means(decorator, "contextlib.contextmanager") for decorator in function.decorator_list):
        return None
    around = (each for node in own(function) if isinstance(node, ast.Yield) for each in ctx.regions(node))
    return _together(_opening(value.at(each.entered, ctx=ctx)) for each in around if each.holder is not function)


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


def _hides_options(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call of autocast takes options that are not in sight: `**options`, `cache_enabled=flag`, a test."""
    for keyword in call.keywords:
        if keyword.arg in (None, "cache_enabled"):
            found, complete = possible_values(ctx, keyword.value)
            if not complete or any(each.path or not _is_written_out(each.node) for each in found):
                return True
    enabled = argument(call, "enabled", 2 if ctx.means(call.func, "torch.autocast") else 0)
    flags = possible_values(ctx, enabled)[0] if enabled is not None else ()
    if any(isinstance(each.node, ast.Compare) for each in flags) or (enabled and is_set_elsewhere(ctx, enabled)):
        return True
    return any(isinstance(each, ast.Starred) for each in call.args)


def _is_written_out(node: ast.AST) -> bool:
    """Whether a value stands there in full: a constant, or a dictionary."""
    return isinstance(node, (ast.Constant, ast.Dict)) or (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict"
    )


def _is_false(ctx: PythonContext, node: ast.expr) -> bool:
    found, complete = possible_values(ctx, node)
    return complete and all(not each.path and literal(each.node) is False for each in found)


def _hidden_false(ctx: PythonContext, spread: ast.expr, name: str) -> bool:
    """Whether `**options` is a dict in sight that switches something off."""
    for each in possible_values(ctx, spread)[0]:
        match each.node:
            case ast.Dict(keys=keys, values=values):
                if any(literal(k) == name and literal(v) is False for k, v in zip(keys, values, strict=True)):
                    return True
            case ast.Call(func=ast.Name(id="dict"), keywords=given):
                if any(k.arg == name and literal(k.value) is False for k in given):
                    return True
    return False
