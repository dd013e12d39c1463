"""Weights that are stepped by hand while gradients are on: `w -= lr * w.grad`.

## Why is this bad?
Autograd refuses to change a leaf in place that requires gradients (PyTorch, all versions):

    RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.

`w = w - lr * w.grad` raises nothing, and makes of `w` something that has no gradient in the next step.

## Fix safety
Safe: under `torch.no_grad()` five steps were those of `torch.optim.SGD`, bit by bit; where gradients are off already it
changes nothing. Unsafe where something else changes the weight in place (`w.clamp_(0)`), which raises as well.

## When it is not offered
Silent under `no_grad`, for `w.data`, and where nothing shows that the gradient is that of the same weight. Possible
where who calls the function is not in sight, where gradients are put there by hand, and for what may be no leaf.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import literal, values
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, in_turn, question, unless
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.gradients.updates import gradients_stay_on, parameters_of, weights_are_leaves
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import enclose

_CHANGING = frozenset({"add_", "sub_", "subtract_", "addcdiv_", "addcmul_"})

_KEEPING = ("retain_graph", "create_graph")
"""Arguments of a backward pass that keep its graph."""

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
        is_right=[
            graph_is_used_once(ctx),
            nothing_else_raises(ctx, statement, name),
            nobody_else_is_given_the_model(ctx, statement, weight),
        ],
    )


@question
def graph_is_used_once(ctx: PythonContext) -> Answer:
    """Whether no graph of the program is kept for another pass, which needs the weights of before (`two_passes`)."""
    found = ctx.index.search(ctx.path, tuple(word.encode() for word in _KEEPING))
    files = [there for path in dict.fromkeys((ctx.path, *found)) if (there := ctx.other(path)) is not None]
    return unless(
        there.evidence(word.value, "another pass may need the weights of before")
        for there in files
        for word in there.all(ast.keyword)
        if word.arg in _KEEPING and literal(word.value) is not False
    )


@question
def nobody_else_is_given_the_model(ctx: PythonContext, statement: ast.stmt, weight: ast.expr) -> Answer:
    """Whether no call that is not followed gets the model whose weights are stepped: it may step them, too.

    Fixture: `given_away`.
    """
    model = ctx.name(parameters_of(ctx, weight)) if isinstance(weight, ast.Name) else None
    return unless(
        ctx.evidence(call, f"`{ctx.written(call.func)}` may step them as well")
        for call in own(ctx.scope(statement))
        if model is not None and isinstance(call, ast.Call) and any(ctx.name(each) == model for each in values(call))
        if ctx.callee(call) is None and not all(each.startswith("torch.") for each in ctx.origin(call.func) or ("",))
    )


@question
def nothing_else_raises(ctx: PythonContext, statement: ast.stmt, weight: str) -> Answer:
    """Whether the function has no other change of the weight in place, which raises as well (`clamped`)."""
    return unless(
        ctx.evidence(node, f"`{ctx.written(node)}` raises, too")
        for node in own(ctx.scope(statement))
        if isinstance(node, ast.expr | ast.stmt) and _changes(ctx, node, weight) and gradients(ctx, node) != "off"
    )


def _changes(ctx: PythonContext, node: ast.AST, weight: str) -> bool:
    """Whether something other than a step changes a weight in place: `w.clamp_(0)`, `w[0] = 0`, `w *= 0.9`."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if ctx.name(owner) == weight:
            changes = method.endswith("_") and not method.endswith("__") and method != "requires_grad_"
            return changes and not any(_steps_by(ctx, value, f"{weight}.grad") for value in values(node))
        case ast.Subscript(value=owner, ctx=ast.Store()):
            return ctx.name(owner) == weight
        case ast.AugAssign(target=target, value=value):
            return ctx.name(target) == weight and not _steps_by(ctx, value, f"{weight}.grad")
    return False


def _steps_by(ctx: PythonContext, value: ast.expr, gradient: str) -> bool:
    """Whether a value is computed from the gradient of the weight itself."""
    return any(isinstance(node, ast.Attribute) and ctx.name(node) == gradient for node in (value, *own(value)))
