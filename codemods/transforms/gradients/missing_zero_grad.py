"""A loop that steps an optimizer and never sets its gradients to zero.

## Why is this bad?
`backward()` adds to the gradients that are there. Where nobody throws them away, every step repeats the gradients of
all steps before, and nothing warns. A linear model after 100 steps (loss, right in parentheses): SGD with 0.05 7.13
(0.0000), SGD with 0.3 6.63 (0.0000), Adam with 0.05 24.6 (0.0002).

## Fix safety
Unsafe: training takes another course. `zero_grad()` is put behind the step, so that gradients which are accumulated on
purpose stay until they are used.

## When it is not offered
Nothing is said where anything may set the gradients to zero on the way from the step to the next `backward()`: the
optimizer or the model, another object's `zero_grad()`, `p.grad = None`, a condition, a function that is given one of
them and cannot be looked into, a closure. Nor where another optimizer is stepped in the same loop, or where it is not
certain that an optimizer is stepped. Reported, but left as it is, where the code reads gradients itself. Possible
where other code of the project that may run in between speaks of `zero_grad`, and where the optimizer or the model is
known under another name, or to an object of the project.
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
from codemods.syntax.verbs import insert_after

rule = Rule(
    code="GRD012",
    name="missing-zero-grad",
    summary="the loop steps an optimizer, but nothing sets its gradients to zero",
    fix_title="Call `zero_grad()` after the step",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("backward",)),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",),
)


@rule.on(ast.Call)
def missing_zero_grad(step: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    cast = objects.cast_of(ctx, step)
    for stage in objects.stages(ctx, step, cast):
        own_tests = questions.own_tests(stage.ctx, stage.node)
        course = objects.course_of(stage.ctx, stage.scope, stage.cast, tables.GRADIENTS)
        again = [e for e in course.violations if e.name == "repeated" and e.since is e.node is stage.node]
        # a condition may hold in the last round only (`a_window_around`)
        outer = questions.happens_around(stage.ctx, stage.scope, stage.cast, stage.node)
        always = [each for each in again if each.hangs_only_on(own_tests) and not (each.passed and outer)]
        if not always:
            continue
        name, reads = cast["optimizer"], questions.reads_gradients(stage.ctx, stage.scope)
        # behind the step of a test another round may begin (step_in_condition)
        alone = isinstance(ctx.statement(step), (ast.Expr, ast.Assign))
        yield rule.finding(
            step,
            fix=None if reads or not alone else [insert_after(step, f"{name}.zero_grad()")],
            message=f"`{name}` is stepped, but nothing sets its gradients to zero before the next backward pass",
            evidence=[stage.ctx.evidence(stage.node, "this runs again and again")] if stage.node is not step else [],
            is_bug=[
                questions.whatever_is_decided(stage.ctx, stage.node, always),
                questions.nothing_unseen_acts(stage.ctx, always),
                questions.no_other_code_zeroes(stage.ctx, stage.scope),
                no_hook_sees_gradients(ctx),
                no_hook_changes_a_step(ctx),
                nothing_here_is_unfollowed(ctx, step),
                nothing_here_is_unfollowed(stage.ctx, stage.node),
            ],
        )
        return
