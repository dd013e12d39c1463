"""Which expressions switch gradients off and on, as context managers, decorators or statements."""

from __future__ import annotations

import libcst as cst

from codemods.model.names import NO_GRAD
from codemods.rules.context import Context
from codemods.syntax.rewrite import keyword, literal, positional


def switched_off(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether `node` stands, in its function, in a block that switches gradients off."""
    for above in ctx.ancestors(node):
        if isinstance(above, cst.With) and any(gradients_off(ctx, item.item) for item in above.items):
            return True
        if isinstance(above, cst.FunctionDef):
            return any(gradients_off(ctx, d.decorator) for d in above.decorators)
    return False


def gradients_off(ctx: Context, node: cst.BaseExpression) -> bool:
    """Whether an expression, as context manager or decorator, surely switches gradients off."""
    if ctx.means(node, NO_GRAD):
        return True
    if not isinstance(node, cst.Call):
        return False
    first = positional(node, 0) or keyword(node, "mode")
    if ctx.means(node.func, "torch.set_grad_enabled"):
        return first is not None and literal(first.value) is False
    return ctx.means(node.func, NO_GRAD) and (not node.args or (first is not None and literal(first.value) is True))


def gradients_on(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether an expression may switch gradients on again: `enable_grad`, `set_grad_enabled(x)`, …"""
    name = ctx.name(node.func if isinstance(node, cst.Call) else node)
    last = (name or "").rpartition(".")[2]
    if last == "enable_grad":
        return True
    if not isinstance(node, cst.Call) or last not in ("set_grad_enabled", "_set_grad_enabled", "inference_mode"):
        return False
    first = positional(node, 0) or keyword(node, "mode")
    switched = literal(first.value) if first is not None else ...
    if last == "inference_mode":
        return bool(node.args) and switched is not True
    return switched is not False
