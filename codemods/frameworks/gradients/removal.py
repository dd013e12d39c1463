"""Statements that a repair leaves without purpose: `loss = loss`, and an `if` that then holds nothing."""

from __future__ import annotations

import ast

from codemods.analysis.python_context import PythonContext
from codemods.syntax.verbs import Verb, delete


def removed(ctx: PythonContext, statement: ast.stmt) -> Verb:
    """Delete a simple statement, and the `if` around it where it is all that stands there and the test only looks."""
    holder = ctx.parent(statement)
    if isinstance(holder, ast.If) and holder.body == [statement] and not holder.orelse:
        if not ctx.source(holder).startswith("elif") and _only_looks(holder.test):
            return delete(holder)
    return delete(statement)


def _only_looks(test: ast.expr) -> bool:
    """Whether evaluating a test does nothing else: names, attributes, literals and comparisons of them."""
    match test:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=inner) | ast.UnaryOp(operand=inner):
            return _only_looks(inner)
        case ast.BoolOp(values=parts):
            return all(map(_only_looks, parts))
        case ast.Compare(left=left, comparators=[right]):
            return _only_looks(left) and _only_looks(right)
    return False


def without_assignment(ctx: PythonContext, statement: ast.AST, replaced: ast.expr, old: ast.expr) -> Verb | None:
    """Where `x = old` would become `x = x`: its deletion."""
    match statement:
        case ast.Assign(targets=[target], value=given) if given is old:
            name = ctx.name(target)
            return removed(ctx, statement) if name is not None and name == ctx.name(replaced) else None
    return None
