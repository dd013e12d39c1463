"""`scaler.scale(loss)` as a statement of its own: the scaled loss is thrown away.

`GradScaler.scale` does not change the loss in place; it returns a scaled one. The `loss.backward()` that follows
differentiates the loss as it was.

## Why is this bad?
Nothing is raised, because the scaler has been used, as far as it can tell. `scaler.step(optimizer)` divides gradients
by a scale (65,536 to begin with) that was never multiplied in: the model hardly moves. In every version of torch that
has a `GradScaler`, up to 2.15.

## Fix safety
Safe: the two statements become the one that was meant, `scaler.scale(loss).backward()`. Arguments of `backward` stay.
Where gradients are clipped before `scaler.step`, `scaler.unscale_(optimizer)` is inserted before the clip, which would
see scaled gradients from now on.

## When it is not offered
Only reported where the two statements do not stand in the same block, so that one may run without the other. Silent
where no `backward()` of the same expression follows (`scaler.scale(torch.zeros(1))` is a known way to set a scaler up),
and where the receiver is not surely a `GradScaler`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import values
from codemods.analysis.definitions import reaching
from codemods.analysis.grad_scaler import Scaler
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.gradient_watchers import (
    functions_are_linear,
    no_hook_sees_gradients,
    no_other_code_reads_gradients,
)
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, discarded, scaled, trainings
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.scaler.clips import clips_after, looked_at
from codemods.frameworks.scaler.questions import (
    gradients_reach_the_scaler,
    is_scaler,
    nothing_else_scales,
    nothing_else_steps,
    nothing_else_unscales,
)
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import dotted, own
from codemods.syntax.verbs import delete, replace

rule = Rule(
    code="SCL004",
    name="discarded-scale",
    summary="the result of `scaler.scale(loss)` is thrown away, and the unscaled loss is differentiated",
    fix_title="Differentiate the scaled loss",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    effect=Effect.FACTOR,
    follows=True,
    computed=Computed.SIZES,
    knows=AROUND_STEPS,
    triggers=(("scale",), ("backward",)),
    references=("https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler",),
)


@rule.on(ast.Module)
def discarded_scale(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if scaler.disabled or not (scaler.sure or (scaler.steps and scaler.updates)):
                continue
            for alone in discarded(ctx, scaler):
                (loss,) = values(alone)
                after = [b for b in training.raw if training.reaches(alone, b)]
                backward = next((b for b in after if _alike(ctx, ctx.loss_of(b), loss)), None)
                if backward is not None:
                    yield _draft(training, scaler, alone, backward)


def _draft(training: Training, scaler: Scaler, alone: ast.Call, backward: ast.Call) -> Draft:
    ctx = training.ctx
    message = f"the result of `{scaler.name}.scale(…)` is thrown away: `backward()` sees the unscaled loss"
    together = training.conditions(backward, training.block(alone)) == [] and training.always(backward)
    change = scaled(ctx, backward, ctx.source(alone.func))
    clips = clips_after(training, scaler, backward) if together else None
    fix, answers = [], []
    if clips is not None and change is not None:
        fix, answers = [*clips[0], delete(alone), replace(*change)], clips[1]
    is_bug = [
        is_scaler(training, scaler),
        nothing_else_scales(training, scaler, backward),
        gradients_reach_the_scaler(training, scaler, backward),
        no_hook_sees_gradients(ctx),
    ]
    code = ReachedCode([(ctx, training.scope)])
    is_right = [
        *answers,
        nothing_else_steps(training, scaler),
        nothing_else_unscales(training, scaler, backward),
        functions_are_linear(ctx),
        gradients_are_not_in_sight(training),
        no_other_code_reads_gradients(ctx, code, training.looks_at, looked_at(training)),
    ]
    return rule.finding(alone, fix=fix, message=message, is_bug=is_bug, is_right=is_right)


@question
def gradients_are_not_in_sight(training: Training) -> Answer:
    """Whether the function itself reads no gradient, which the repair multiplies by the scale (`clamped_by_hand`)."""
    ctx = training.ctx
    return unless(
        ctx.evidence(node, f"`{ctx.written(node)}` would be multiplied by the scale")
        for node in own(training.scope)
        if isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load)
    )


def _alike(ctx: PythonContext, a: ast.expr | None, b: ast.expr) -> bool:
    """Whether two expressions are spelled alike, and every name in them has the same value."""
    if a is None or ast.dump(a) != ast.dump(b):
        return False
    names = zip(_names(a), _names(b), strict=True)
    return all(set(reaching(ctx, x)[0]) == set(reaching(ctx, y)[0]) for x, y in names)


def _names(node: ast.expr) -> list[ast.expr]:
    return [each for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute)) and dotted(each)]
