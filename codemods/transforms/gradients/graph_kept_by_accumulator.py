"""A sum or a list of losses that keeps the graph of each of them: `total += loss` beside `loss.backward()`.

## Why is this bad?
The loss still hangs on its graph when it is added, and the sum holds it: after 50 steps 404 nodes of 50 graphs, 550 in
a list, none with `loss.detach()`. The backward pass has freed the largest part of each, so that memory grows slowly,
with every round. PyTorch 2.13 warns when the sum becomes a number:

    UserWarning: Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.

## Fix safety
Safe where all that is made of the sum in its function is a number or a text: the values are the same. Unsafe where it
is returned or handed on: who gets it may ask for its graph.

## When it is not offered
Silent where the sum, or what is made of it, is differentiated; where a graph is retained (`retain_graph`,
`create_graph`); where the sum is bound anew in each round; and for what no backward pass of the same loop
differentiates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.definitions import reaching
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.gradients.accumulators import (
    graph_is_not_handed_on,
    is_bound_before,
    nobody_differentiates_the_sum,
)
from codemods.frameworks.gradients.differentiated import differentiated_in
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import LOOPS
from codemods.syntax.verbs import replace

rule = Rule(
    code="GRD007",
    name="graph-kept-by-accumulator",
    summary="a sum or a list of losses keeps the graph of every round",
    fix_title="Add the loss without its graph",
    safety=Safety.SAFE,
    consequence=Consequence.WARNS,
    follows=True,
    effect=Effect.EQUAL,
    triggers=(("backward", "manual_backward"),),
    imports=("torch", "lightning", "pytorch_lightning", "accelerate"),
    errors=("Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior",),
    references=(
        "https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",
    ),
)


@rule.on(ast.AugAssign)
def kept_by_a_sum(added: ast.AugAssign, ctx: PythonContext) -> Iterator[Draft]:
    if isinstance(added.op, ast.Add) and isinstance(added.target, ast.Name):
        yield from _kept(added, added.target.id, added.value, ctx)


@rule.on(ast.Expr)
def kept_in_a_list(statement: ast.Expr, ctx: PythonContext) -> Iterator[Draft]:
    match statement.value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value], keywords=[]):
            yield from _kept(statement, name, value, ctx)


def _kept(adding: ast.stmt, name: str, value: ast.expr, ctx: PythonContext) -> Iterator[Draft]:
    if not any(_factors(value)) or ctx.enclosing(adding, *LOOPS) is None:
        return
    loop = ctx.flow_of(ctx.scope(adding)).loop(adding)
    if loop is None or not is_bound_before(ctx, name, loop, adding):
        return
    for loss in _factors(value):
        bound, complete = reaching(ctx, loss)
        inside = complete and bound and all(ctx.module.contains(loop, each.node) for each in bound)
        if not inside or (backward := differentiated_in(ctx, loss, loop)) is None:
            continue
        yield rule.finding(
            loss,
            fix=[replace(loss, f"{loss.id}.detach()")],
            message=f"`{name}` keeps the graph of `{loss.id}` in every round",
            evidence=[ctx.evidence(backward, "the backward pass of the round")],
            is_bug=[nobody_differentiates_the_sum(ctx, adding, name)],
            is_right=[graph_is_not_handed_on(ctx, adding, name)],
        )
        return


def _factors(value: ast.expr) -> Iterator[ast.Name]:
    """The loss in `loss`, `loss * len(x)`, `n * loss` and `loss / n`."""
    match value:
        case ast.Name():
            yield value
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            yield from (*_factors(left), *_factors(right))
