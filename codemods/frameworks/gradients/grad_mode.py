"""Which expressions switch gradients off and on, and whether gradients are on at a place."""

from __future__ import annotations

import ast

from codemods.analysis.calls import argument, literal, values
from codemods.analysis.instances import library_values
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import SWITCHES
from codemods.analysis.values import expressions
from codemods.frameworks.autocast.openings import DEPTH
from codemods.model.names import NO_GRAD


def grad_mode(ctx: PythonContext, node: ast.expr, depth: int = DEPTH) -> str:
    """What a context manager or decorator does to gradients: `off`, `on`, `maybe`, or "" for nothing."""
    call = node if isinstance(node, ast.Call) else None
    bare = call.func if call is not None else node
    if ctx.means(bare, NO_GRAD):
        mode = argument(call, "mode", 0) if call is not None else None
        given = literal(mode) if mode is not None else True
        return "off" if given is True else "maybe" if given is ... else ""
    if ctx.means(bare, "torch.enable_grad"):
        return "on"
    if ctx.means(bare, "torch.set_grad_enabled") and call is not None:
        given = literal(argument(call, "mode", 0))
        return "off" if given is False else "on" if given is True else "maybe"
    if not depth:
        return ""
    behind = expressions(ctx, bare)
    if call is not None:  # a function of the project hands it out
        behind = [*behind, *(each for each in library_values(ctx, node) or () if each[1] is not node)]
    return "maybe" if any(grad_mode(where, value, depth - 1) for where, value in behind) else ""


def gradients(ctx: PythonContext, node: ast.AST) -> str:
    """`off`, `on` or `maybe` where a node runs, as far as its own function says; "" where it says nothing."""
    modes = (grad_mode(ctx, manager.entered) for manager in reversed(ctx.regions(node)))
    return next(filter(None, modes), "")


def switch(ctx: PythonContext, statement: ast.stmt) -> str:
    """`off`, `on` or `maybe` for a statement `torch.set_grad_enabled(…)`."""
    match statement:
        case ast.Expr(value=ast.Call() as call) if ctx.means(call.func, SWITCHES):
            return grad_mode(ctx, call)
    return ""


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
