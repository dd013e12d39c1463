"""Gradients that are thrown away between the backward pass and the step that is to use them.

## Why is this bad?
The step finds no gradients. Nothing is raised, and nothing is learned: 20 steps of AdamW left every weight where it
was (loss 5.76; 0.15 with the calls in order). With `set_to_none=False` only weight decay and momentum move them. With a
gradient scaler it raises, but not with `set_to_none=False`:

    AssertionError: No inf checks were recorded for this optimizer.

## Fix safety
Unsafe: training takes another course. `zero_grad()` moves behind the step.

## When it is not offered
Nothing is said where another backward pass may come in between, where the code reads or writes gradients itself, where
a condition decides about `zero_grad()` but not about the step, and where it is not certain that the gradients of this
optimizer are meant. Reported, but left as it is, where `zero_grad()` is called by a function, or within a larger
statement.
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
    code="SCL010",
    name="zero-grad-before-step",
    summary="gradients are set to zero between the backward pass and the step",
    fix_title="Call `zero_grad()` after the step",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("zero_grad",), ("backward",)),
    errors=("No inf checks were recorded for this optimizer.",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",),
)


@rule.on(ast.Call)
def zero_grad_before_step(step: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast = objects.cast_of(ctx, step)
    for where, scope, node, known in objects.stages(ctx, step, cast):
        own_tests = questions.own_tests(where, node)
        course = objects.course_of(where, scope, known, tables.GRADIENTS)
        empty = [each for each in course.violations if each.name == "emptied" and each.node is node]
        always = [each for each in empty if each.since is not None and each.hangs_only_on(own_tests)]
        zeroing = [
            zero
            for each in always
            if each.since is not None
            for zero in questions.between(where, scope, known, each.since, node, before="held", after="emptied")[-1:]
        ]
        if not zeroing or questions.reads_gradients(where, scope):
            continue
        zero = max(zeroing, key=lambda each: each.lineno)
        alone = {*zeroing} == {zero} and isinstance(where.parent(zero), ast.Expr) and node is step
        written = where.written(zero)
        yield rule.finding(
            step,
            fix=[delete(zero), insert_after(step, ctx.source(zero))]
            if alone and questions.is_zeroing(where, zero, known)
            else None,
            message=f"`{cast['optimizer']}` is stepped without gradients: `{written}` runs before it",
            evidence=[where.evidence(zero, "the gradients go here")] if node is not step else [],
            is_bug=[
                questions.whatever_is_decided(where, node, always),
                questions.nothing_unseen_acts(where, always),
                questions.no_rate_is_set(where, scope),
                nothing_here_is_unfollowed(ctx, step),
                nothing_here_is_unfollowed(where, node),
                no_hook_changes_a_step(ctx),
                no_hook_sees_gradients(ctx),
            ],
        )
        return
