"""A learning rate scheduler that is stepped in every round of a loop that steps its optimizer in every N-th one.

## Why is this bad?
Where gradients are accumulated over N batches, a schedule that is counted in steps of the optimizer runs N times too
fast: a warmup of 100 steps is over after 25, and the learning rate is at its end after a quarter of the training.
Nothing warns.

## Fix safety
Unsafe: training takes another course. The call moves behind the optimizer's step, under its condition.

## When it is not offered
Nothing is said where the schedule's length is that of the loader, so that it counts batches on purpose, or where it is
told where it stands (`scheduler.step(epoch)`). Certain only
where its length is divided by the number of batches that are accumulated; possible elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import nothing_here_is_unfollowed
from codemods.frameworks.training import objects, questions, tables
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import delete, insert_after

rule = Rule(
    code="SCH002",
    name="scheduler-per-micro-batch",
    summary="the scheduler is stepped for every batch, its optimizer for every N-th one",
    fix_title="Step the scheduler after the optimizer's step only",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("backward",), ("lr_scheduler", "get_scheduler", "schedule", "scheduler")),
    references=("https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
)


@rule.on(ast.Call)
def scheduler_per_micro_batch(advance: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast, scope = objects.schedule_of(ctx, advance), ctx.scope(advance)
    if advance.args or advance.keywords:
        return  # it is told where it stands
    for violation in objects.course_of(ctx, scope, cast, tables.SCHEDULE).violations if cast else ():
        if violation.name != "outrun" or violation.node is not advance or violation.since is not advance:
            continue
        step = questions.step_beside(ctx, scope, cast, advance)
        test = questions.counted(ctx, step, violation) if step is not None else None
        if step is None or test is None:
            continue
        statement = ctx.statement(advance)
        alone = isinstance(statement, ast.Expr) and statement.value is advance
        every = f"`{ctx.written(advance)}` runs in every round"
        yield rule.finding(
            advance,
            fix=[delete(advance), insert_after(step, ctx.source(advance))] if alone else None,
            message=f"{every}, but `{cast['optimizer']}` is stepped only where `{ctx.written(test)}`",
            is_bug=[
                questions.schedule_counts_steps(ctx, advance, test),
                questions.nothing_unseen_acts(ctx, [violation]),
                questions.a_window_has_several_rounds(ctx, test),
                nothing_here_is_unfollowed(ctx, advance),
            ],
        )
