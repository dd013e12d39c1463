"""`self.optimizers().optimizer.step()`: the step goes around Lightning.

## Why is this bad?
What `self.optimizers()` gives hands the step to the Trainer, which divides the gradients by the scale of `16-mixed` and
counts it. The optimizer inside does neither: with a gradient scaler the weights became NaN, and in every precision
`global_step` stays 0, so that `max_steps` is never reached and checkpoints are named after step 0 (run with Lightning
2.6.6). Nothing raises and nothing warns.

## Fix safety
Unsafe: `step()` of what `self.optimizers()` gives is counted, so that `max_steps` and `every_n_train_steps` begin to
work. With two optimizers both steps count.

## When it is not offered
Reported for `self.optimizers(use_pl_optimizer=False)`. Silent in automatic optimization, for other attributes of the
optimizer (`param_groups`), and where another step of the class goes through the Trainer and no precision scales: two
optimizers may be counted once on purpose.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unless
from codemods.frameworks.autocast.regions import scales_losses
from codemods.frameworks.lightning.closures import runs_by_hand
from codemods.frameworks.lightning.hooks import TRAINING, runs
from codemods.frameworks.lightning.optimizers import methods_are_lightnings, stepped_by_the_trainer
from codemods.model.edits import Consequence, Safety
from codemods.model.names import LIGHTNING_MODULE
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

rule = Rule(
    code="PL005",
    name="unwrapped-optimizer-step",
    summary="the optimizer inside of what `self.optimizers()` gives is stepped: Lightning neither unscales nor counts",
    fix_title="Step what `self.optimizers()` gives",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(("optimizers",), ("step",), ("optimizer", "use_pl_optimizer")),
    subclasses=LIGHTNING_MODULE,
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)


@rule.on(ast.Call)
def unwrapped_step(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    func, method = call.func, ctx.method(call)
    if not isinstance(func, ast.Attribute) or func.attr != "step" or method is None:
        return
    if ctx.index.descends(method.owner, LIGHTNING_MODULE) is not True:
        return
    inner = _is_inside(ctx, func.value)
    if not inner and not _is_given_unwrapped(ctx, func.value):
        return
    if not runs_by_hand(ctx, method):
        return
    if not runs(ctx, method.owner, method.node, TRAINING):
        return
    is_bug = [methods_are_lightnings(ctx, method.owner, "optimizers")]
    if not scales_losses(ctx).is_yes:
        is_bug.append(no_other_step_is_counted(ctx, call))
    wrapped = func.value.value if inner and isinstance(func.value, ast.Attribute) else None
    yield rule.finding(
        call,
        fix=[replace(func.value, ctx.source(wrapped))] if wrapped is not None else None,
        message=f"`{ctx.written(func)}` goes around the Trainer: it neither unscales the gradients nor counts the step",
        is_bug=is_bug,
    )


def _is_inside(ctx: PythonContext, node: ast.expr) -> bool:
    """`opt.optimizer`, of an optimizer that the Trainer gave."""
    return (
        isinstance(node, ast.Attribute) and node.attr == "optimizer" and stepped_by_the_trainer(ctx, node.value) is True
    )


def _is_given_unwrapped(ctx: PythonContext, node: ast.expr) -> bool:
    """What `self.optimizers(use_pl_optimizer=False)` gives, or `[each.optimizer for each in self.optimizers()]`."""
    found, complete = possible_values(ctx, node)
    return complete and bool(found) and all(_unwraps(each.ctx, each.node) for each in found)


def _unwraps(ctx: PythonContext, node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and _is_inside(ctx, node):
        return True
    method = ctx.method(node)
    if not isinstance(node, ast.Call) or method is None or ctx.name(node.func) != f"{method.self}.optimizers":
        return False
    return literal(argument(node, "use_pl_optimizer", 0)) is False


@question
def no_other_step_is_counted(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether no other step in the file goes through the Trainer, which counts that one (`counted_once`)."""
    doubts = []
    for node in ctx.all(ast.Attribute):
        if node.attr != "step" or node is call.func:
            continue
        counted = stepped_by_the_trainer(ctx, node.value)
        if counted:
            return no(ctx.evidence(node, "this step is counted"))
        if counted is None:
            doubts.append(ctx.evidence(node, "this step may be counted"))
    return unless(doubts)
