"""What a value is an instance of: by constructor, by annotation, or by protocol. Unknown is None, never a guess."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from codemods.model.names import ACCELERATOR, GRAD_SCALER
from codemods.project.index import NONE
from codemods.syntax.module import FUNCTIONS, is_none, own, parameters

if TYPE_CHECKING:
    from codemods.analysis.python_context import PythonContext


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """Canonical class names, and on which evidence."""

    names: frozenset[str]
    how: str
    """constructor, annotation, or protocol"""


Seen = frozenset[ast.AST]
"""The expressions that are being asked for: `a = b if x else a` asks for itself."""


def of(ctx: PythonContext, node: ast.expr, seen: Seen = frozenset()) -> InstanceOf | None:
    """What an expression's value is an instance of."""
    if isinstance(node, ast.IfExp):
        found = [of(ctx, arm, seen) for arm in (node.body, node.orelse) if not is_none(arm)]
        return found[0] if found and all(k == found[0] for k in found) else None
    if isinstance(node, ast.Call):
        names = ctx.origin(node.func)
        return InstanceOf(names, "constructor") if names else None
    if ctx.name(node) is None or node in seen:
        return None
    return _constructed(ctx, node, seen | {node}) or _annotated(ctx, node) or _protocol(ctx, node)


def _constructed(ctx: PythonContext, node: ast.expr, seen: Seen) -> InstanceOf | None:
    name, method = ctx.name(node) or "", ctx.method(node)
    head, _, attribute = name.partition(".")
    found: list[frozenset[str]] = []
    if method and head == method.self and attribute and "." not in attribute:
        for ref, given in ctx.index.assigned(method.owner, attribute):
            value = given.value
            if value.literal is not None:
                found.append(ctx.index.resolve(ref.path, value.dotted) if value.call and value.dotted else NONE)
    else:
        for binding in ctx.assigned(node) or ():
            if not is_none(binding.value):
                kind = of(ctx, binding.value, seen) if binding.value is not None else None
                found.append(kind.names if kind else NONE)
    return InstanceOf(frozenset().union(*found), "constructor") if found and all(found) else None


def _annotated(ctx: PythonContext, node: ast.expr) -> InstanceOf | None:
    """By the annotation of the parameter that a plain name is."""
    name, scope = ctx.name(node) or "", ctx.scope(node)
    while not isinstance(scope, ast.Module):
        if isinstance(scope, (ast.Lambda, *FUNCTIONS)):
            if name in ctx.bindings(scope):
                return None
            for parameter in parameters(scope):
                if parameter.arg == name:
                    names = _annotation(ctx, parameter.annotation) if parameter.annotation is not None else NONE
                    return InstanceOf(names, "annotation") if names else None
        scope = ctx.scope(scope)
    return None


def _annotation(ctx: PythonContext, node: ast.expr) -> frozenset[str]:
    """`X` of `X`, `"X"`, `Optional[X]`, `X | None`."""
    match node:
        case ast.Constant(value=str(text)):
            try:
                return _annotation(ctx, ast.parse(text, mode="eval").body)
            except SyntaxError:
                return NONE
        case ast.Subscript(value=value, slice=inner):
            return _annotation(ctx, inner) if (ctx.name(value) or "").endswith("Optional") else NONE
        case ast.BinOp(left=left, right=right, op=ast.BitOr()):
            if is_none(right):
                return _annotation(ctx, left)
            return _annotation(ctx, right) if is_none(left) else NONE
        case _:
            return ctx.origin(node)


def _protocol(ctx: PythonContext, node: ast.expr) -> InstanceOf | None:
    """By use, in one function: `S.scale(…).backward()` and `S.step(…)`: a GradScaler; `A.backward(x)` beside
    `A.prepare(…)` or `A.accumulate(…)`: an Accelerator. Where a constructor is in sight, it decides.
    """
    if ctx.assigned(node) is not None:
        return None
    scope = ctx.scope(node)
    if ("called", scope) not in ctx.memo:
        ctx.memo["called", scope] = _called(ctx, scope)
    used: set[str] = ctx.memo["called", scope].get(ctx.name(node), set())
    if {"scale().backward", "step"} <= used:
        return InstanceOf(GRAD_SCALER, "protocol")
    if "backward" in used and used & {"prepare", "accumulate"}:
        return InstanceOf(ACCELERATOR, "protocol")
    return None


def _called(ctx: PythonContext, scope: ast.AST) -> dict[str | None, set[str]]:
    """The methods that a scope calls, by receiver; `S.scale(…).backward()` as one."""
    called: dict[str | None, set[str]] = {}
    for call in own(scope):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        receiver, method = call.func.value, call.func.attr
        called.setdefault(ctx.name(receiver), set()).add(method)
        if method == "backward" and isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute):
            if receiver.func.attr == "scale":
                called.setdefault(ctx.name(receiver.func.value), set()).add("scale().backward")
    return called
