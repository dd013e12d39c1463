"""Which expressions switch gradients off and on, as context managers, decorators or statements."""

from __future__ import annotations

import ast

from codemods.analysis.calls import argument, literal, values
from codemods.analysis.python_context import PythonContext
from codemods.model.names import NO_GRAD
from codemods.syntax.module import FUNCTIONS


def switched_off(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether `node` stands, in its function, in a block that switches gradients off."""
    for above in ctx.ancestors(node):
        if isinstance(above, (ast.With, ast.AsyncWith)) and any(
            gradients_off(ctx, item.context_expr) for item in above.items
        ):
            return True
        if isinstance(above, FUNCTIONS):
            return any(gradients_off(ctx, decorator) for decorator in above.decorator_list)
    return False


def gradients_off(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether an expression, as context manager or decorator, surely switches gradients off."""
    if ctx.means(node, NO_GRAD):
        return True
    if not isinstance(node, ast.Call):
        return False
    first = argument(node, "mode", 0)
    if ctx.means(node.func, "torch.set_grad_enabled"):
        return first is not None and literal(first) is False
    return ctx.means(node.func, NO_GRAD) and (not values(node) or (first is not None and literal(first) is True))


def gradients_on(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether an expression may switch gradients on again: `enable_grad`, `set_grad_enabled(x)`, …"""
    name = ctx.name(node.func if isinstance(node, ast.Call) else node)
    last = (name or "").rpartition(".")[2]
    if last == "enable_grad":
        return True
    if not isinstance(node, ast.Call) or last not in ("set_grad_enabled", "_set_grad_enabled", "inference_mode"):
        return False
    first = argument(node, "mode", 0)
    switched = literal(first) if first is not None else ...
    if last == "inference_mode":
        return bool(values(node)) and switched is not True
    return switched is not False
