"""What lies between two calls of one function: conditions, exits, and what other functions may do to gradients."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from codemods.frameworks.grad_scaler.steps import Scaler, Training
from codemods.rules.context import Context
from codemods.syntax import flow

_CONDITIONS = (cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.Match)
_SUITES = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)
UNSCALING = ("unscale_", "get_scale")


def block(ctx: Context, node: cst.CSTNode) -> cst.CSTNode:
    """The suite that surely runs `node` when it runs: the innermost one, `with` blocks looked through."""
    return next(a for a in ctx.ancestors(node) if isinstance(a, _SUITES) and not isinstance(ctx.parent(a), cst.With))


def always(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether an expression is evaluated whenever its statement runs (not `a() if c else b()`, `c and a()`)."""
    for above in ctx.ancestors(node):
        if isinstance(above, (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.BaseComp)):
            return False
        if isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            break
    return True


def conditions(ctx: Context, node: cst.CSTNode, within: cst.CSTNode) -> list[cst.CSTNode] | None:
    """The compound statements between `node` and a suite around it, innermost first; None: it is not inside."""
    found: list[cst.CSTNode] = []
    for above in ctx.ancestors(node):
        if above is within:
            return found
        if isinstance(above, _CONDITIONS):
            found.append(above)
    return None


def touched(training: Training, scaler: Scaler, first: cst.CSTNode, last: cst.CSTNode) -> bool:
    """Whether something between two calls may already take the scale out of the gradients, or cannot be followed."""
    ctx = training.ctx
    for node in training.nodes:
        if isinstance(node, cst.Call) and training.before(first, node) and training.before(node, last):
            if node in scaler.looks or may_mention(ctx, node, scaler.name, UNSCALING):
                return True
        elif isinstance(node, cst.Attribute) and writes(ctx, node):
            if training.before(first, node) and training.before(node, last):
                return True
    return False


def writes(ctx: Context, grad: cst.Attribute) -> bool:
    """Whether this is a `p.grad` that is assigned, or changed in place."""
    if grad.attr.value != "grad":
        return False
    below: cst.CSTNode = grad
    for above in ctx.ancestors(grad):
        if isinstance(above, cst.Attribute) and above.attr.value.endswith("_"):
            return True
        if isinstance(above, (cst.AssignTarget, cst.AugAssign)):
            return isinstance(above, cst.AssignTarget) or below is above.target
        if not isinstance(above, (cst.Attribute, cst.Subscript)):
            return False
        below = above
    return False


def may_mention(ctx: Context, call: cst.Call, name: str, attributes: Sequence[str]) -> bool:
    """Whether a call may run code that uses these attributes of the scaler: seen, or handed where none can look."""
    target = ctx.callee(call)
    if target is not None:
        return names_in(*target, attributes)
    if is_handed(ctx, call, name):
        return True
    method = ctx.method(call)
    written = ctx.name(call.func)
    if method is None or written is None or not name.startswith(method.self + "."):
        return False
    if not written.startswith(method.self + ".") or written.count(".") != 1:
        return False
    return next(ctx.index.assigned(method.owner, written.partition(".")[2]), None) is None


def is_handed(ctx: Context, call: cst.Call, name: str) -> bool:
    """Whether an argument is the scaler `name`, or the object that holds it."""
    parts = name.split(".")
    owners = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return any(ctx.name(a.value) in owners for a in call.args)


def names_in(ctx: Context, function: cst.FunctionDef, attributes: Sequence[str], depth: int = 2) -> bool:
    """Whether a function, or one that it calls, mentions an attribute of these names."""
    for node in flow.own(function.body):
        if isinstance(node, cst.Attribute) and node.attr.value in attributes:
            return True
        if depth and isinstance(node, cst.Call) and (target := ctx.callee(node)):
            if target[1] is not function and names_in(*target, attributes, depth - 1):
                return True
    return False
