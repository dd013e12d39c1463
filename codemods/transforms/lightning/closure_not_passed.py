"""`optimizer_step` steps the optimizer without its closure: nothing is trained, or Lightning raises.

## Why is this bad?
The closure runs `training_step`, `zero_grad` and the backward pass. Where it never runs, Lightning raises `The closure
hasn't been executed`. Where the method runs it and steps without it, training is right in 32 bits; with a gradient
scaler (`precision="16-mixed"`) Lightning skips every step in silence, and `global_step` counts on.

## Fix safety
Safe where Lightning surely runs the method with a closure, the optimizers are torch's, and no code before a lone step
reads gradients, which the closure computes. Otherwise unsafe.

## When it is not offered
In manual optimization, for parameters of Lightning 1.x, in a decorated method; where the closure has another use or a
name is bound anew; where a lone step is conditional, repeated, in a `try` that catches, or in a method with `return`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.gradient_watchers import no_hook_changes_a_step
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.autocast.regions import scales_losses
from codemods.frameworks.lightning import closures
from codemods.frameworks.lightning.hooks import runs_under_the_trainer
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.names import LIGHTNING_MODULE
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import delete, replace

rule = Rule(
    code="PL010",
    name="closure-not-passed",
    summary="`optimizer_step` steps the optimizer without its closure",
    fix_title="Pass the closure to the step",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    computed=Computed.NOTHING,
    triggers=(("optimizer_step",), ("step",)),
    subclasses=LIGHTNING_MODULE,
    errors=(
        "The closure hasn't been executed. HINT: did you call `optimizer_closure()` in your `optimizer_step` hook?",
    ),
    references=("https://lightning.ai/docs/pytorch/stable/common/lightning_module.html#optimizer-step",),
)


@rule.on(ast.Call)
def closure_not_passed(step: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    method, statement = ctx.method(step), ctx.parent(step)
    if method is None or method.node.name != "optimizer_step" or not isinstance(statement, ast.Expr):
        return
    names = [each.arg for each in ast.walk(method.node.args) if isinstance(each, ast.arg)]
    if len(names) != 5 or "closure" not in names[4] or "*" in ast.unparse(method.node.args):
        return  # Lightning 2 gives these and no others
    if ctx.function(step) is not method.node or method.node.decorator_list:
        return
    optimizer, closure = names[3:]
    rebound = {name for node in ast.walk(method.node) if isinstance(node, ast.Nonlocal) for name in node.names}
    if ast.unparse(step) != f"{optimizer}.step()" or {*ctx.bindings(method.node), *rebound} & {optimizer, closure}:
        return
    if not ctx.index.descends(method.owner, LIGHTNING_MODULE) or closures.optimizes_by_hand(ctx, method.owner):
        return
    blocks = [getattr(ctx.parent(statement), name, []) for name in ("body", "orelse", "finalbody")]
    before = next(block[: block.index(statement)] for block in blocks if statement in block)
    passed = replace(step, f"{optimizer}.step(closure={closure})")
    is_bug = [closures.steps_with_a_closure(ctx, method), runs_under_the_trainer(ctx, method.owner, method.node)]
    ordinary = closures.updates_follow_their_closure(ctx, method.owner) & no_hook_changes_a_step(ctx)
    if before and ast.unparse(before[-1]) == f"{closure}()":
        yield rule.finding(
            step,
            message=f"`{closure}()` runs before the step, which a gradient scaler then skips",
            fix=[delete(before[-1]), passed],
            is_bug=is_bug,
            is_right=[ordinary],
            consequence=Consequence.SILENT if scales_losses(ctx).is_yes else Consequence.STYLE,
        )
    elif not _otherwise(method.node, step, closure) and (early := closures.always_before(ctx, statement)) is not None:
        yield rule.finding(
            step, fix=[passed], is_bug=is_bug, is_right=[ordinary, closures.nothing_reads_gradients(ctx, method, early)]
        )


def _otherwise(function: ast.AST, step: ast.Call, closure: str) -> bool:
    """Whether the function uses the closure, steps in another place, or may end before the step."""
    return any(
        isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)
        or (isinstance(node, ast.Name) and node.id in {closure, "locals", "eval", "exec"})
        or (isinstance(node, ast.Call) and node is not step and ast.unparse(node.func) == ast.unparse(step.func))
        for node in ast.walk(function)
    )
