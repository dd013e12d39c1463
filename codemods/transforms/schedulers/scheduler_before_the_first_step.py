"""A learning rate scheduler that is stepped at the head of each round, before the optimizer is.

## Why is this bad?
Making a scheduler sets the first learning rate. Stepping it before the optimizer's first step skips that value, so that
the whole schedule comes one round early; torch warns once:

    UserWarning: Detected call of `lr_scheduler.step()` before `optimizer.step()`.

## Fix safety
Unsafe: training takes another course. The call moves to the end of the loop's body.

## When it is not offered
Nothing is said where the scheduler is given the number of the epoch, or a metric, where a condition skips the first
round, where no round of the same loop steps the optimizer (a schedule that is wound forward), and where what is stepped
is not certain. Possible where a function gives the rates (`LambdaLR`, a warmup of Transformers): one that begins with
zero is stepped at the head on purpose. Reported, but left as it is, where the body may be left early.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import nothing_here_is_unfollowed
from codemods.flow.answers import unknown
from codemods.frameworks.training import objects, questions, tables
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import delete, insert_after

rule = Rule(
    code="SCH003",
    name="scheduler-before-the-first-step",
    summary="the scheduler is stepped before the optimizer's first step",
    fix_title="Step the scheduler at the end of the round",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("lr_scheduler", "get_scheduler", "schedule", "scheduler")),
    errors=("Detected call of `lr_scheduler.step()` before `optimizer.step()`.",),
    references=("https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
)


@rule.on(ast.Call)
def scheduler_before_the_first_step(advance: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast, scope = objects.schedule_of(ctx, advance), ctx.scope(advance)
    if not cast or advance.args or advance.keywords:
        return
    flow = ctx.flow_of(scope)
    loop = flow.loop(advance)
    if loop is None:
        yield from _of_a_function(advance, ctx, cast)
        return
    violations = objects.course_of(ctx, scope, cast, tables.SCHEDULE).violations
    if not any(each.name == "early" and each.node is advance for each in violations):
        yield from _of_a_method(advance, ctx, cast, loop)
    for violation in violations:
        if violation.name != "early" or violation.node is not advance or violation.passed:
            continue
        if not questions.is_stepped_after(ctx, scope, cast, advance, loop):
            continue
        leaves = any(isinstance(each, (ast.Continue, ast.Break, ast.Return)) for each in ast.walk(loop))
        statement = ctx.statement(advance)
        alone = isinstance(statement, ast.Expr) and statement in loop.body and not leaves
        yield rule.finding(
            advance,
            fix=[delete(advance), insert_after(loop.body[-1], ctx.source(advance))] if alone else None,
            message=f"`{ctx.written(advance)}` comes before the first step of `{cast['optimizer']}`, and skips the "
            "first learning rate",
            is_bug=[
                questions.nothing_unseen_acts(ctx, [violation]),
                questions.first_rate_counts(ctx, advance),
                nothing_here_is_unfollowed(ctx, advance),
            ],
        )


def _of_a_method(
    advance: ast.Call, ctx: PythonContext, cast: dict[str, str], loop: ast.For | ast.AsyncFor | ast.While
) -> Iterator[Draft]:
    """A loop of a class whose constructor makes the optimizer and its schedule (`loop_of_a_class`)."""
    scope, method = ctx.scope(advance), ctx.method(advance)
    held = all(cast[role].partition(".")[0] == method.self for role in cast) if method is not None else False
    if not held or ctx.statement(advance) not in loop.body:
        return
    if not questions.is_stepped_after(ctx, scope, cast, advance, loop):
        return
    if not questions.is_stepped_before(ctx, scope, cast, advance):
        yield from _in_doubt(advance, ctx, cast)


def _of_a_function(advance: ast.Call, ctx: PythonContext, cast: dict[str, str]) -> Iterator[Draft]:
    """A function that a loop calls, and that advances the schedule before it trains (`function_of_an_epoch`)."""
    scope = ctx.scope(advance)
    if not questions.is_stepped_after(ctx, scope, cast, advance, scope):
        return
    if questions.is_stepped_before(ctx, scope, cast, advance):
        return
    yield from _in_doubt(advance, ctx, cast)


def _in_doubt(advance: ast.Call, ctx: PythonContext, cast: dict[str, str]) -> Iterator[Draft]:
    written = ctx.written(advance)
    yield rule.finding(
        advance,
        message=f"`{written}` comes before the first step of `{cast['optimizer']}`, and skips the first learning rate",
        is_bug=[
            unknown(ctx.evidence(advance, "the optimizer may be stepped before this function is called")),
            questions.first_rate_counts(ctx, advance),
            nothing_here_is_unfollowed(ctx, advance),
        ],
    )
