"""Gradients that are thrown away in every round of a loop, and used in every N-th one.

## Why is this bad?
Accumulating gradients over N batches needs them to stay until the step. With `zero_grad()` in every round only the last
batch of each window counts, the others are computed for nothing, and nothing warns. Norms of the gradients that two
steps used, of four batches each: 0.0849 and 0.7844, where 1.4774 and 1.2754 are right, which is what one large batch
gives.

## Fix safety
Unsafe: training takes another course. `zero_grad()` moves behind the step, under its condition.

## When it is not offered
Nothing is said where the condition of the step counts nothing (`if torch.isfinite(loss)`) or counts to one, where the
code reads gradients itself, where `zero_grad()` stands
under a condition of its own, or where several optimizers take part and the loss is not divided by what the condition
counts to. Reported, but left as it is, where another function
calls `zero_grad()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.gradient_watchers import no_hook_changes_a_step, no_hook_sees_gradients
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import nothing_here_is_unfollowed
from codemods.frameworks.training import objects, questions, tables
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import delete, insert_after

rule = Rule(
    code="GRD024",
    name="zero-grad-defeats-accumulation",
    summary="gradients are accumulated, but set to zero in every round",
    fix_title="Call `zero_grad()` after the step only",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("zero_grad",), ("backward",)),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",),
)


@rule.on(ast.Call)
def zero_grad_defeats_accumulation(step: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast, scope = objects.cast_of(ctx, step), ctx.scope(step)
    for violation in objects.course_of(ctx, scope, cast, tables.GRADIENTS).violations if cast else ():
        if violation.name != "dropped":
            continue
        test = questions.counted(ctx, step, violation)
        zero, name = violation.node, cast["optimizer"]
        if test is None or not isinstance(zero, ast.Call) or violation.since is None:
            continue
        loops = {ctx.flow_of(scope).loop(each) for each in (zero, violation.since, step)}
        if None in loops or len(loops) > 1:
            continue  # a loop around, or another one, begins anew (`a_loop_after_another`, `a_window_around`)
        if questions.reads_gradients(ctx, scope):
            continue  # the gradients of each round are used (`read_in_each_round`)
        if not questions.is_meant_to_add_up(ctx, scope, cast, violation.since, test):
            continue
        statement = ctx.statement(zero)
        alone = isinstance(statement, ast.Expr) and statement.value is zero and questions.is_zeroing(ctx, zero, cast)
        every, only = (
            f"`{ctx.written(zero)}` runs in every round",
            f"`{name}` is stepped only where `{ctx.written(test)}`",
        )
        yield rule.finding(
            zero,
            fix=[delete(zero), insert_after(step, ctx.source(zero))] if alone else None,
            message=f"{every}, but {only}: the gradients of the other rounds are lost",
            is_bug=[
                questions.whatever_is_decided(ctx, zero, [violation]),
                questions.nothing_unseen_acts(ctx, [violation]),
                questions.a_window_has_several_rounds(ctx, test),
                questions.no_other_code_zeroes(ctx, scope),
                questions.graph_is_freed(ctx, violation.since),
                no_hook_sees_gradients(ctx),
                no_hook_changes_a_step(ctx),
                nothing_here_is_unfollowed(ctx, step),
            ],
        )
