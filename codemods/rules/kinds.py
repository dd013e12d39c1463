"""What a value is: by constructor, by annotation, or by protocol. Unknown is None, never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from codemods.model.names import ACCELERATOR, GRAD_SCALER
from codemods.project.index import NONE
from codemods.syntax import flow
from codemods.syntax.tree import parameters

if TYPE_CHECKING:
    from codemods.rules.context import Context


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value is an instance of: canonical class names, and on which evidence."""

    names: frozenset[str]
    how: str
    """constructor, annotation, or protocol"""


Seen = frozenset[cst.CSTNode]
"""The expressions whose kind is being asked for: `a = b if x else a` asks for itself."""


def of(ctx: Context, node: cst.CSTNode, seen: Seen = frozenset()) -> Kind | None:
    """What an expression's value is an instance of."""
    if isinstance(node, cst.IfExp):
        found = [of(ctx, arm, seen) for arm in (node.body, node.orelse) if ctx.name(arm) != "None"]
        return found[0] if found and all(k == found[0] for k in found) else None
    if isinstance(node, cst.Call):
        names = ctx.origin(node.func)
        return Kind(names, "constructor") if names else None
    if ctx.name(node) is None or node in seen:
        return None
    return _constructed(ctx, node, seen | {node}) or _annotated(ctx, node) or _protocol(ctx, node)


def _constructed(ctx: Context, node: cst.CSTNode, seen: Seen) -> Kind | None:
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
            if ctx.name(binding.value) != "None":
                kind = of(ctx, binding.value, seen) if binding.value is not None else None
                found.append(kind.names if kind else NONE)
    return Kind(frozenset().union(*found), "constructor") if found and all(found) else None


def _annotated(ctx: Context, node: cst.CSTNode) -> Kind | None:
    """By the annotation of the parameter that a plain name is."""
    name, scope = ctx.name(node) or "", ctx.scope(node)
    while not isinstance(scope, cst.Module):
        if isinstance(scope, (cst.FunctionDef, cst.Lambda)):
            if name in ctx.bindings(scope):
                return None
            for parameter in parameters(scope):
                if parameter.name.value == name:
                    names = _annotation(ctx, parameter.annotation.annotation) if parameter.annotation else NONE
                    return Kind(names, "annotation") if names else None
        scope = ctx.scope(scope)
    return None


def _annotation(ctx: Context, node: cst.BaseExpression) -> frozenset[str]:
    """`X` of `X`, `"X"`, `Optional[X]`, `X | None`."""
    match node:
        case cst.SimpleString():
            try:
                return _annotation(ctx, cst.parse_expression(str(node.evaluated_value)))
            except cst.ParserSyntaxError:
                return NONE
        case cst.Subscript(slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]):
            return _annotation(ctx, inner) if (ctx.name(node.value) or "").endswith("Optional") else NONE
        case cst.BinaryOperation(left=left, right=right, operator=cst.BitOr()):
            if ctx.name(right) == "None":
                return _annotation(ctx, left)
            return _annotation(ctx, right) if ctx.name(left) == "None" else NONE
        case _:
            return ctx.origin(node)


def _protocol(ctx: Context, node: cst.CSTNode) -> Kind | None:
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
        return Kind(GRAD_SCALER, "protocol")
    if "backward" in used and used & {"prepare", "accumulate"}:
        return Kind(ACCELERATOR, "protocol")
    return None


def _called(ctx: Context, scope: cst.CSTNode) -> dict[str | None, set[str]]:
    """The methods that a scope calls, by receiver; `S.scale(…).backward()` as one."""
    called: dict[str | None, set[str]] = {}
    for call in flow.own(scope.body if isinstance(scope, cst.FunctionDef) else scope):
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            continue
        receiver, method = call.func.value, call.func.attr.value
        called.setdefault(ctx.name(receiver), set()).add(method)
        if method == "backward" and isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute):
            if receiver.func.attr.value == "scale":
                called.setdefault(ctx.name(receiver.func.value), set()).add("scale().backward")
    return called
