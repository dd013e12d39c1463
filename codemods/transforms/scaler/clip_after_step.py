"""Gradients are clipped where no step uses them: behind the step, or before the backward pass.

## Why is this bad?
The clip changes nothing, and nothing is raised. Norm of an update that `clip_grad_norm_(parameters, 1.0)` was to bound:
200 with the clip behind the step, 1 with the clip before it, with a gradient scaler and without.

## Fix safety
Unsafe: training takes another course, with shorter steps. The clip moves directly before the step; where a gradient
scaler steps, `scaler.unscale_(optimizer)` comes before it.

## When it is not offered
Nothing is said where another clip of the same function may do the work, where several optimizers take part, where the
code reads gradients itself, where the gradients are kept for the next round, where the bound is infinite, which only
measures, and where it is not certain that the clip is of what the optimizer steps. Possible where the bound may be
infinite. Reported, but left as it is, where the norm is used, and where clip and step do not stand side by side.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.gradient_watchers import no_hook_changes_a_step
from codemods.analysis.python_context import PythonContext
from codemods.analysis.summaries import Cast
from codemods.analysis.unfollowed import nothing_here_is_unfollowed
from codemods.flow.answers import unless
from codemods.frameworks.scaler.questions import bound_is_a_number
from codemods.frameworks.training import objects, questions, tables
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import Verb, delete, insert_before

rule = Rule(
    code="SCL009",
    name="clip-after-step",
    summary="gradients are clipped where no step uses them",
    fix_title="Clip before the step",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("zero_grad",), ("backward",), ("clip_grad_norm_", "clip_grad_value_")),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",),
)


@rule.on(ast.Call)
def clip_after_step(step: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast, scope = objects.cast_of(ctx, step), ctx.scope(step)
    found = questions.only_clip(ctx, scope, cast) if cast else None
    if found is None or questions.reads_gradients(ctx, scope):
        return  # what is clipped may be used by hand (`sent_to_others`)
    clip = found.node
    own_tests = questions.own_tests(ctx, clip)
    violations = objects.course_of(ctx, scope, cast, tables.GRADIENTS).violations
    # in another round, or after what is not in sight (`in_the_next_round`)
    in_time = [each for each in violations if each.name == "in time" and each.node is clip and each.since is not None]
    choices = [*own_tests, *questions.ways_on(ctx, scope)]
    always = [each for each in violations if each.hangs_only_on(choices) and all(map(each.excludes, in_time))]
    late = [each for each in always if each.name == "late" and each.since is step]
    early = [each for each in always if each.name == "early" and each.node is clip]
    if not late and ctx.flow_of(scope).loop(step) is None:
        yield from _of_a_step(ctx, step, found, cast)
    if not late and not (early and questions.happens(ctx, scope, cast, before="clean", after="held")):
        return
    why = f"runs behind `{ctx.written(step)}`" if late else "runs where there are no gradients yet"
    yield rule.finding(
        clip,
        fix=_moved(ctx, clip, step, cast["optimizer"]),
        message=f"`{ctx.written(clip.func)}` {why}, so that no step uses what it clips",
        is_bug=[
            bound_is_a_number(found.ctx, found.call),
            questions.whatever_is_decided(ctx, clip, late or early),
            questions.nothing_unseen_acts(ctx, late or early),
            nothing_here_is_unfollowed(ctx, step),
            no_hook_changes_a_step(ctx),
        ],
    )


def _of_a_step(ctx: PythonContext, step: ast.Call, found: questions.Clip, cast: Cast) -> Iterator[Draft]:
    """A function that is one step of a training, and begins with cleared gradients (`step_of_a_class`)."""
    scope, clip = ctx.scope(step), found.node
    again = objects.course_of_another_run(ctx, scope, cast, tables.GRADIENTS)
    late = [each for each in again.violations if each.name == "late" and not each.passed] if again is not None else []
    if not late or any(each.since is not None for each in late) or not ctx.flow_of(scope).reaches(step, clip):
        return
    once = [] if objects.runs_again(ctx, scope) else [ctx.evidence(step, "no loop is seen that runs this again")]
    yield rule.finding(
        clip,
        fix=_moved(ctx, clip, step, cast["optimizer"]),
        message=f"`{ctx.written(clip.func)}` runs behind `{ctx.written(step)}`, so that no step uses what it clips",
        is_bug=[
            unless(once),
            bound_is_a_number(found.ctx, found.call),
            nothing_here_is_unfollowed(ctx, step),
            no_hook_changes_a_step(ctx),
        ],
    )


def _moved(ctx: PythonContext, clip: ast.Call, step: ast.Call, optimizer: str) -> list[Verb] | None:
    """The clip before the step; None where the two do not stand side by side, or the norm is used."""
    here, there = ctx.statement(clip), ctx.statement(step)
    if not isinstance(here, ast.Expr) or here.value is not clip or there is None:
        return None
    if ctx.module.block(here) != ctx.module.block(there):
        return None
    assert isinstance(step.func, ast.Attribute)
    scaler = ctx.source(step.func.value)
    unscale = [f"{scaler}.unscale_({optimizer})"] if step.args and not questions.unscales(ctx, step) else []
    return [delete(clip), insert_before(step, *unscale, ctx.source(clip))]
