"""Weights that are stepped by hand while gradients are on: `w -= lr * w.grad`.

## Why is this bad?
Autograd refuses to change a leaf in place that requires gradients (PyTorch, all versions):

    RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.

`w = w - lr * w.grad` raises nothing, and makes of `w` something that has no gradient in the next step.

## Fix safety
Safe: under `torch.no_grad()` five steps were those of `torch.optim.SGD`, bit by bit; where gradients are off already it
changes nothing.

## When it is not offered
Silent under `no_grad`, for `w.data`, and where nothing shows that the gradient is that of the same weight. Possible
where who calls the function is not in sight, where gradients are put there by hand, and for what may be no leaf.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import literal
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, in_turn, question, unless
from codemods.frameworks.gradients.updates import gradients_stay_on, weights_are_leaves
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import enclose

_CHANGING = frozenset({"add_", "sub_", "subtract_", "addcdiv_", "addcmul_"})

rule = Rule(
    code="GRD021",
    name="leaf-write-outside-no-grad",
    summary="weights are stepped by hand while gradients are on",
    fix_title="Step under `torch.no_grad()`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    triggers=(("grad",), ("torch",)),
    errors=("a leaf Variable that requires grad is being used in an in-place operation",),
    references=("https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd",),
)


@rule.on(ast.AugAssign, ast.Expr)
def leaf_write(statement: ast.AugAssign | ast.Expr, ctx: PythonContext) -> Iterator[Draft]:
    match statement:
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as weight, op=ast.Add() | ast.Sub(), value=value):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=weight, attr=method)) as value) if method in _CHANGING:
            pass
        case _:
            return
    name = ctx.name(weight)
    if name is None or name.endswith((".data", ".grad")) or not _steps_by(ctx, value, f"{name}.grad"):
        return
    spelled = ctx.spell("torch.no_grad", at=statement)
    yield rule.finding(
        statement,
        fix=[enclose(statement, f"with {spelled.code}():")] if spelled is not None else None,
        needs=[spelled.need] if spelled is not None else [],
        message=f"`{ctx.written(weight)}` is stepped by hand while gradients are on",
        is_bug=in_turn(lambda: gradients_stay_on(ctx, statement), lambda: weights_are_leaves(ctx, weight)),
        is_right=[graph_is_used_once(ctx, statement)],
    )


@question
def graph_is_used_once(ctx: PythonContext, statement: ast.stmt) -> Answer:
    """Whether no graph is kept for another pass, which needs the weights of before (`two_passes`)."""
    return unless(
        ctx.evidence(word.value, "another pass may need the weights of before")
        for word in own(ctx.scope(statement))
        if isinstance(word, ast.keyword)
        and word.arg in ("retain_graph", "create_graph")
        and literal(word.value) is not False
    )


def _steps_by(ctx: PythonContext, value: ast.expr, gradient: str) -> bool:
    """Whether a value is computed from the gradient of the weight itself."""
    return any(isinstance(node, ast.Attribute) and ctx.name(node) == gradient for node in (value, *own(value)))
