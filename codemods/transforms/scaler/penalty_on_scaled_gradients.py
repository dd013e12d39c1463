"""A penalty is made of gradients that are still multiplied by the loss scale.

## Why is this bad?
`torch.autograd.grad(scaler.scale(loss), …)` gives gradients that are multiplied by the scale, and a loss that is made
of them is scaled a second time. Nothing is raised. With a scale of 1024 a penalty on their norm was 412 for 0.402, and
the update 14.55 for 0.0156; divided by `scaler.get_scale()` both are those of a training without a scaler (run with
PyTorch 2.13).

## Fix safety
There is none. Divide the gradients by `scaler.get_scale()` before the penalty, or differentiate the loss unscaled, as
for the penalty of a WGAN.

## When it is not offered
Silent where the function asks for the scale, where the penalty has none (a quotient of two gradients, a cosine), where
what is made of the gradients is not scaled again, and where a function that is not known takes part. Possible where a
factor is no number in sight, and where the scaler may be off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, literal
from codemods.analysis.grad_scaler import Scaler
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.scaler.penalties import Fate, fate
from codemods.frameworks.scaler.questions import is_scaler, made_in_sight, nothing_else_unscales, scaler_is_on
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule

_ONES = frozenset({"torch.ones", "torch.ones_like", "torch.tensor"})

rule = Rule(
    code="AMP012",
    name="penalty-on-scaled-gradients",
    summary="a penalty is made of gradients that are multiplied by the loss scale",
    fix_title="Divide the gradients by the scale before the penalty",
    safety=Safety.DISPLAY,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.SIZES,
    triggers=(("create_graph",), ("scale",)),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-penalty",),
)


@rule.on(ast.Module)
def penalty_on_scaled_gradients(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if not scaler.sure or scaler.disabled or scaler.looks or training.hides("get_scale"):
                continue
            for call in training.calls:
                if ctx.means(call.func, "torch.autograd.grad") and _is_scaled(ctx, scaler, call):
                    if (found := fate(ctx, f"{scaler.name}.scale", call)) is not None and found.scaled_again:
                        yield _draft(training, scaler, call, found)


def _is_scaled(ctx: PythonContext, scaler: Scaler, call: ast.Call) -> bool:
    """Whether a call differentiates a scaled loss, and its gradients can be differentiated themselves."""
    outputs, vector = argument(call, "outputs", 0), argument(call, "grad_outputs", 2)
    if outputs is None or literal(argument(call, "create_graph", 4)) is not True:
        return False
    if vector is not None and literal(vector) is not None:
        if not (isinstance(vector, ast.Call) and ctx.means(vector.func, _ONES)):
            return False  # it may be divided by the scale
    alone = outputs.elts[0] if isinstance(outputs, (ast.List, ast.Tuple)) and len(outputs.elts) == 1 else outputs
    found, complete = possible_values(ctx, alone, ordered=True)
    scaled = (
        isinstance(each.node, ast.Call) and each.ctx is ctx and ctx.name(each.node.func) == f"{scaler.name}.scale"
        for each in found
        if not each.path
    )
    return complete and all(scaled) and all(not each.path for each in found)


def _draft(training: Training, scaler: Scaler, call: ast.Call, found: Fate) -> Draft:
    ctx, again = training.ctx, found.scaled_again[0]
    return rule.finding(
        call,
        message=f"these gradients are multiplied by the scale, and `{ctx.written(again)}` scales what is made of them",
        evidence=[ctx.evidence(again, "scaled again")],
        is_bug=[
            is_scaler(training, scaler),
            scaler_is_on(ctx, scaler),
            *made_in_sight(ctx, scaler),
            nothing_else_unscales(training, scaler, call),
            factors_are_numbers(found),
        ],
    )


@question
def factors_are_numbers(found: Fate) -> Answer:
    """Whether what gradients are multiplied with on the way to a penalty surely is not the scale (`by_a_factor`)."""
    return unless(found.doubts)
