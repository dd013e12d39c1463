"""What runs a module's weights where, with or without gradients, followed through the project's calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.analysis.calls import keyword, positional, values
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.autocast.modules import Path, is_module, path_of, takes_outputs
from codemods.frameworks.autocast.openings import DEPTH
from codemods.frameworks.autocast.regions import lexical, switched_off, unknown_managers
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients
from codemods.model.edits import Evidence
from codemods.syntax.module import Function, own

_FORWARDS = re.compile(r"_*(forward|encode|decode|embed|generate|predict|sample|extract|get_\w+_features)(_\w*)?")
_MATMULS = re.compile(
    r"linear|bilinear|matmul|mm|bmm|addmm|baddbmm|einsum|conv(_transpose)?[123]d|(multi_head|scaled)_.*"
)


@dataclass(frozen=True, slots=True)
class Use:
    """One run of a module's weights, as seen from one function."""

    path: Path
    node: ast.AST
    """The call (or operand) in that function, through which it happens."""
    off: bool
    """Without gradients."""
    enclosed: bool = False
    """It runs in a region that is opened and closed inside the call."""
    sure: bool = True
    """Whether what runs surely has weights; else its class is not in sight."""
    doubts: tuple[Evidence, ...] = ()
    """The context managers and decorators in the called function that may do anything to autocast or gradients."""


def uses(ctx: PythonContext, root: ast.AST, depth: int = DEPTH) -> list[Use]:
    """Every run of weights in a function or statement, with those in the project's functions that it calls.

    What a call runs several times in the same way counts once. Left out are those of which cannot be told whether they
    run with gradients.
    """
    key = (uses, root, depth)
    if key not in ctx.memo:
        ctx.memo[key] = []  # what a function that calls itself sees
        ctx.memo[key] = [
            replace(use, off=use.off or mode == "off")
            for use in runs(ctx, root, depth)
            if (mode := gradients(ctx, use.node)) != "maybe"
        ]
    found: list[Use] = ctx.memo[key]
    return found


def runs(ctx: PythonContext, root: ast.AST, depth: int = DEPTH) -> Iterator[Use]:
    """Every run of weights in a function or statement, whatever it says of gradients."""
    for node in own(root):
        found: Iterator[Use] = iter(())
        if isinstance(node, ast.Call):
            found = _call(ctx, node, depth)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found = (Use(p, node, False) for side in (node.left, node.right) if (p := _parameter(ctx, side)))
        yield from (use for use in found if not switched_off(ctx, node))


def _call(ctx: PythonContext, call: ast.Call, depth: int) -> Iterator[Use]:
    if (target := followed(ctx, call)) is not None:
        where, function = target
        for inner, off, enclosed, sure, unknown in _from_outside(where, function, depth - 1) if depth else ():
            if (path := outward(ctx, call, where, function, inner)) is not None:
                yield Use(path, call, off, enclosed, sure, unknown)
        return
    last = (ctx.name(call.func) or "").rpartition(".")[2]
    if _MATMULS.fullmatch(last):
        yield from (Use(p, call, False) for value in values(call) if (p := _parameter(ctx, value)))
    wrapped = applied(ctx, call)
    called = call.func if wrapped is None else wrapped[1]
    off = wrapped is not None
    match called:
        case ast.Attribute(value=owner, attr=attribute) if _FORWARDS.fullmatch(attribute):
            if is_module(ctx, owner) and (path := path_of(ctx, called)):
                yield Use(path[:-1] if attribute == "forward" else path, call, off)
                return
    known = is_module(ctx, called)
    if known is False or (known is None and takes_outputs(ctx, called)):
        return
    if path := path_of(ctx, called):
        yield Use(path, call, off, sure=known is True)


_Outside = tuple[Path, bool, bool, bool, tuple[Evidence, ...]]
"""`path`, `off`, `enclosed`, `sure` and `doubts` of a use."""


def _from_outside(ctx: PythonContext, function: Function, depth: int) -> Sequence[_Outside]:
    """The different runs of weights in a function, as those who call it see them."""
    key = (_from_outside, function, depth)
    if key not in ctx.memo:
        inner = uses(ctx, function, depth)
        seen = ((u.path, u.off, u.enclosed or lexical(ctx, u.node) is not None, u.sure, doubts(ctx, u)) for u in inner)
        ctx.memo[key] = list(dict.fromkeys(seen))
    found: Sequence[_Outside] = ctx.memo[key]
    return found


def doubts(ctx: PythonContext, use: Use) -> tuple[Evidence, ...]:
    """The context managers and decorators around a use that may do anything, those of called functions included."""
    return (*use.doubts, *unknown_managers(ctx, use.node))


def applied(ctx: PythonContext, call: ast.Call) -> tuple[ast.Call, ast.expr] | None:
    """`torch.no_grad()` and `f` of `torch.no_grad()(f)(x)`: what switches gradients off, and what is called."""
    match call.func:
        case ast.Call(func=ast.Call() as switch, args=[function], keywords=[]) if grad_mode(ctx, switch) == "off":
            return switch, function
    return None


def followed(ctx: PythonContext, call: ast.Call) -> tuple[PythonContext, Function] | None:
    """The project's function that a call runs; `self(x)` runs `forward`."""
    method = ctx.method(call)
    if method is not None and ctx.name(call.func) == method.self:
        owner = ctx.index.method(method.owner, "forward")
        where = ctx.other(owner.path) if owner else None
        return where.definition(f"{owner.name}.forward") if where and owner else None
    return ctx.callee(call)


def outward(ctx: PythonContext, call: ast.Call, where: PythonContext, function: Function, path: Path) -> Path | None:
    """A path in a called function as the caller would write it."""
    root, rest = path[0], path[1:]
    params = [p.arg for p in (*function.args.posonlyargs, *function.args.args)]
    if (inner := where.method(function)) is not None and inner.node is function:
        if root == inner.self:
            caller = ctx.method(call)
            return (caller.self, *rest) if caller is not None else None
        params = params[1:]
    given: ast.expr | None = None
    if root in params:
        given = keyword(call, root) or positional(call, params.index(root))
    elif root in (p.arg for p in function.args.kwonlyargs):
        given = keyword(call, root)
    elif root in where.bindings(function) or where is not ctx:
        return None
    else:
        return path
    base = path_of(ctx, given) if given is not None else None
    return (*base, *rest) if base is not None else None


def _parameter(ctx: PythonContext, node: ast.expr) -> Path | None:
    if isinstance(node, ast.Attribute) and ctx.is_a(node, frozenset({"torch.nn.Parameter"})):
        return path_of(ctx, node)
    return None


def forgets(ctx: PythonContext, root: ast.AST, depth: int = DEPTH) -> Sequence[ast.Call]:
    """The calls in a function or statement that empty the weight cache."""
    key = (forgets, root, depth)
    if key not in ctx.memo:
        ctx.memo[key] = []
        ctx.memo[key] = [node for node in own(root) if isinstance(node, ast.Call) and _forgets(ctx, node, depth)]
    found: list[ast.Call] = ctx.memo[key]
    return found


def _forgets(ctx: PythonContext, call: ast.Call, depth: int) -> bool:
    if ctx.means(call.func, "torch.clear_autocast_cache"):
        return True
    target = ctx.callee(call) if depth else None
    return target is not None and bool(forgets(target[0], target[1], depth - 1))
