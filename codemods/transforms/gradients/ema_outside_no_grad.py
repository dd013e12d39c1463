"""An average of weights that is updated while gradients are on.

## Why is this bad?
`ema.mul_(decay).add_(p, alpha=1 - decay)` computes from weights that require gradients. A frozen copy becomes a tensor
with the graph of all updates behind it: after ten its depth is 19, and memory grows with every step, silently. A copy
that is not frozen refuses (run with PyTorch 2.13):

    RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.

## Fix safety
Safe: under `torch.no_grad()` the average has the same values and no graph; where gradients are off already it changes
nothing. Unsafe in a program that differentiates through its updates (`create_graph=True`).

## When it is not offered
Silent under `no_grad`, for `.data`, for `detach()`, and for what no loop takes from the `parameters()` of two models.
Possible where who calls the function is not in sight, where the same function calls the average with gradients on, and
where a class of the project has a `parameters()` of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import every, in_turn
from codemods.frameworks.gradients.updates import (
    average_is_not_trained_through,
    gradients_stay_on,
    is_frozen_here,
    no_update_is_differentiated,
    parameters_are_of_modules,
    parameters_of,
)
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import enclose

_CHANGING = frozenset({"add_", "lerp_", "mul_", "copy_", "addcmul_", "sub_"})

rule = Rule(
    code="GRD011",
    name="ema-outside-no-grad",
    summary="an average of weights is updated while gradients are on",
    fix_title="Update the average under `torch.no_grad()`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    triggers=(("parameters", "named_parameters"), ("zip",), tuple(sorted(_CHANGING))),
    imports=("torch",),
    errors=("a leaf Variable that requires grad is being used in an in-place operation",),
    references=("https://docs.pytorch.org/docs/stable/optim.html#averaging-a-model",),
)


@rule.on(ast.Expr)
def ema_outside_no_grad(statement: ast.Expr, ctx: PythonContext) -> Iterator[Draft]:
    averaged = _averaged(statement.value)
    if averaged is None or (copy := parameters_of(ctx, averaged)) is None:
        return
    others = [
        node
        for node in own(statement.value)
        if isinstance(node, ast.Name) and node.id != averaged.id and parameters_of(ctx, node) is not None
    ]
    models = [model for node in others if (model := parameters_of(ctx, node)) is not None]
    if not others or not all(_keeps_its_graph(ctx, node) for node in others):
        return
    if any(is_frozen_here(ctx, model) for model in models):
        return
    is_bug = in_turn(
        lambda: gradients_stay_on(ctx, statement),
        lambda: parameters_are_of_modules(ctx, copy),
        lambda: average_is_not_trained_through(ctx, copy),
    )
    if every(is_bug).is_no:  # before files are read for words that are frequent
        return
    frozen = any(each.word == "requires_grad" for each in stores(ctx, "requires_grad"))
    frozen = frozen or bool(mentions(ctx, "requires_grad_"))
    spelled = ctx.spell("torch.no_grad", at=statement)
    yield rule.finding(
        statement,
        fix=[enclose(statement, f"with {spelled.code}():")] if spelled is not None else None,
        needs=[spelled.need] if spelled is not None else [],
        message=f"`{ctx.written(copy)}` is updated with gradients on: each update "
        + ("adds to a graph that grows" if frozen else "raises"),
        consequence=Consequence.SILENT if frozen else Consequence.RAISES,
        is_bug=is_bug,
        is_right=[no_update_is_differentiated(ctx)],
    )


def _averaged(node: ast.expr) -> ast.Name | None:
    """`e` of `e.mul_(d).add_(p, alpha=1 - d)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGING:
        node = node.func.value
        if isinstance(node, ast.Name):
            return node
    return None


def _keeps_its_graph(ctx: PythonContext, node: ast.Name) -> bool:
    """Whether nothing takes a tensor out of its graph, as `p.data` does, and `p.to(dtype).data` (`of_its_dtype`)."""
    value: ast.AST | None = node
    while isinstance(above := ctx.parent(value) if value is not None else None, ast.Attribute):
        if above.attr in ("data", "detach", "item", "grad", "shape"):
            return False
        value = ctx.parent(above)
        if not (isinstance(value, ast.Call) and value.func is above):
            return True
    return True
