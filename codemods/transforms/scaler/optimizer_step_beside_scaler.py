"""`optimizer.step()` after `scaler.scale(loss).backward()`.

The gradients are multiplied by the loss scale, and only `scaler.step(optimizer)` (or `unscale_`) divides them again.

## Why is this bad?
Without `scaler.update()` nothing is raised: the optimizer takes a step 65,536 times too large. With it:

    AssertionError: No inf checks were recorded prior to update.

After `scaler.unscale_(optimizer)` the size of the step is right, but an overflow, which the scaler would skip, makes
the weights infinite. In every version of torch that has a `GradScaler`, up to 2.15.

## Fix safety
Unsafe: `scaler.step(optimizer)` skips a step whose gradients overflowed, and training goes on differently from there.
`scaler.update()` is added where nothing calls it, and `scaler.unscale_(optimizer)` before a clip: where the clip came
last, it hid the scale by cutting every step down to its own norm.

## When it is not offered
Only reported where the same function also steps by the scaler, where scaling stands under a condition and the step
does not, where a clip stands under a condition of its own, and where `step` is given a closure (`Closure use is not
currently supported if GradScaler is enabled.`).

Silent where the step is the other arm of a scaled one (`if use_amp: … else: optimizer.step()`), where a raw backward
may have made its gradients, where the code divides by `get_scale()` or takes hold of `.grad`, itself or in a function
that it calls (whoever does that divides by the scale), and where the receiver is not surely a `GradScaler`. Only
reported where parameters are given to a function that cannot be looked into.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.grad_scaler import Scaler, given_optimizer, is_optimizer, spelled
from codemods.analysis.gradient_use import ReachedCode, is_used, takes_parameters
from codemods.analysis.instances import callee
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import LOOPS
from codemods.syntax.verbs import Verb, insert_after, insert_before, replace
from codemods.transforms.scaler.clip_before_unscale import clips

rule = Rule(
    code="SCL005",
    name="optimizer-step-beside-scaler",
    summary="`optimizer.step()` uses gradients that are still multiplied by the loss scale",
    fix_title="Step with the scaler",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    triggers=(("scale",), ("step",), ("backward",)),
    errors=("No inf checks were recorded prior to update.",),
    references=("https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.step",),
)


@rule.on(ast.Module)
def step_beside_scaler(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        if len(training.scalers) != 1:
            continue
        scaler = training.scalers[0]
        if scaler.sure and not scaler.disabled:
            wrong = [p for p in training.plain if _is_wrong(training, scaler, p)]
            for step in wrong:
                yield _draft(training, scaler, step, last=step is wrong[-1])


def _is_wrong(training: Training, scaler: Scaler, step: ast.Call) -> bool:
    ctx = training.ctx
    assert isinstance(step.func, ast.Attribute)
    backwards = [
        b
        for b in scaler.backwards
        if training.reaches(b, step) and not training.contrary(training.scaling(scaler, b), step)
    ]
    raw = [r for r in training.raw if not any(training.contrary(r, b) for b in backwards)]
    if not backwards or any(training.before(r, step) for r in raw) or training.hides("unscale_"):
        return False
    owner = spelled(ctx, step.func.value)
    for other in scaler.steps:
        if training.contrary(other, step) or given_optimizer(ctx, other) in (owner, None):
            return False
    if scaler.steps and not is_optimizer(ctx, step.func.value, surely=True):
        return False  # a moving average may be called an optimizer, too, and step after the scaler
    if owner is None or training.touched(scaler, backwards[-1], step):
        return False
    return not any(_changes_gradients(ctx, node) for node in training.between(backwards[-1], step))


def _changes_gradients(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether a node takes hold of gradients, itself or in a function of the project that it calls: to divide them."""
    if isinstance(node, ast.Attribute):
        return is_used(ctx, node)
    if not isinstance(node, ast.Call) or clips(ctx, node) or (target := callee(ctx, node)) is None:
        return False
    return any(isinstance(n, ast.Attribute) and is_used(where, n) for where, n in ReachedCode([target]).nodes)


def _draft(training: Training, scaler: Scaler, step: ast.Call, *, last: bool) -> Draft:
    ctx = training.ctx
    assert isinstance(step.func, ast.Attribute)
    owner = spelled(ctx, step.func.value)
    unscaled = any(given_optimizer(ctx, u) == owner for u in scaler.unscales)
    sees = "takes no notice of overflows" if unscaled else "uses gradients that are multiplied by the loss scale"
    message = f"`{owner}.step()` {sees}: `{scaler.name}.step({owner})` is meant"
    together = any(_together(training, scaler, b, step) for b in scaler.backwards)
    if step.args or step.keywords or scaler.steps or not together or not isinstance(ctx.parent(step), ast.Expr):
        return rule.finding(step, message=message)
    for node in training.between(scaler.backwards[-1], step):
        if isinstance(node, ast.Call) and takes_parameters(ctx, node):
            shown = ctx.evidence(node, f"`{ctx.source(node.func)}` may divide the gradients")
            return rule.finding(step, message=f"{message}, unless {shown.why}", evidence=[shown])
    fix = _before_clips(training, scaler, step, owner) if not unscaled else []
    if fix is None:
        return rule.finding(step, message=message)
    fix.append(replace(step, f"{scaler.name}.step({ctx.source(step.func.value)})"))
    if last and not scaler.updates and not _updated_elsewhere(training, scaler):
        fix.append(insert_after(step, f"{scaler.name}.update()"))
    return rule.finding(step, fix=fix, message=message)


def _before_clips(training: Training, scaler: Scaler, step: ast.Call, owner: str | None) -> list[Verb] | None:
    """`unscale_` before the first clip, which has worked on scaled gradients so far; None: there is no place for it."""
    before = [c for c in training.calls if clips(training.ctx, c) and training.reaches(c, step)]
    seen = [c for c in before if any(training.before(b, c) for b in scaler.backwards)]
    if not seen:
        return []
    for node in training.between(seen[0], step):
        if isinstance(node, (ast.Continue, ast.Break, ast.Return)):
            return None
    if training.conditions(seen[0], training.block(step)) != []:
        return None
    return [insert_before(seen[0], f"{scaler.name}.unscale_({owner})")]


def _together(training: Training, scaler: Scaler, backward: ast.Call, step: ast.Call) -> bool:
    """Whether the step surely follows the scaled backward: under the conditions of the latter, or more of them."""
    scaling = training.scaling(scaler, backward)
    if not training.always(scaling):
        return False
    if training.conditions(step, training.block(scaling)) is not None:
        return True
    around = training.conditions(scaling, training.block(step))
    if around is None and isinstance(gate := training.block(scaling)[0], ast.If):
        own = (a for a in training.ctx.ancestors(step) if isinstance(a, ast.If))
        return any(ast.dump(a.test) == ast.dump(gate.test) for a in own)  # not contrary to it, so under it
    return around is not None and all(isinstance(a, LOOPS) for a in around)


def _updated_elsewhere(training: Training, scaler: Scaler) -> bool:
    last = scaler.name.rpartition(".")[2]
    ctx = training.ctx
    updates = (a for a in ctx.all(ast.Attribute) if a.attr == "update")
    return any((ctx.name(a.value) or "").rpartition(".")[2] == last for a in updates)
