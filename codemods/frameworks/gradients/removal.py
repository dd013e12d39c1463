"""Statements that a repair leaves without purpose: `loss = loss`, and an `if` that then holds nothing."""

from __future__ import annotations

import libcst as cst

from codemods.rules.context import Context
from codemods.syntax.rewrite import Replacement


def removed(ctx: Context, statement: cst.CSTNode) -> dict[cst.CSTNode, Replacement]:
    """Delete a small statement, and the `if` around it where it is all that stands there and the test only looks."""
    line = ctx.parent(statement)
    block = ctx.parent(line) if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else line
    if isinstance(block, (cst.IndentedBlock, cst.SimpleStatementSuite)) and len(block.body) == 1:
        holder = ctx.parent(block)
        if isinstance(holder, cst.If) and holder.orelse is None and not isinstance(ctx.parent(holder), cst.If):
            if _only_looks(ctx, holder.test):
                return {holder: None}
    return {statement: None}


def _only_looks(ctx: Context, test: cst.BaseExpression) -> bool:
    """Whether evaluating a test does nothing else: names, attributes, literals and comparisons of them."""
    match test:
        case cst.Name() | cst.Integer() | cst.SimpleString():
            return True
        case cst.Attribute(value=inner) | cst.UnaryOperation(expression=inner):
            return _only_looks(ctx, inner)
        case cst.BooleanOperation(left=left, right=right):
            return _only_looks(ctx, left) and _only_looks(ctx, right)
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(comparator=right)]):
            return _only_looks(ctx, left) and _only_looks(ctx, right)
    return False


def without_assignment(
    ctx: Context, statement: cst.CSTNode, replaced: cst.BaseExpression, old: cst.BaseExpression
) -> dict[cst.CSTNode, Replacement] | None:
    """Where `x = old` would become `x = x`: its deletion."""
    match statement:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=given) if given is old:
            name = ctx.name(target)
            return removed(ctx, statement) if name is not None and name == ctx.name(replaced) else None
    return None
