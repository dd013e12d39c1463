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

Possible where a setting may switch the scaler off (`enabled=options.amp`): then the plain step is right.

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

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.grad_scaler import Scaler, given_optimizer, spelled
from codemods.analysis.gradient_use import takes_parameters
from codemods.analysis.gradient_watchers import no_hook_changes_a_step
from codemods.analysis.instances import callee
from codemods.analysis.optimizers import stepped
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings
from codemods.flow.protocols import Violation
from codemods.frameworks.scaler.clips import clips
from codemods.frameworks.scaler.course import gradients_stay_scaled, violations
from codemods.frameworks.scaler.questions import (
    gradients_are_untouched,
    is_scaler,
    nothing_else_steps,
    nothing_else_unscales,
    overflows_are_not_tested,
    scaler_is_on,
    step_is_its_own,
    steps_an_optimizer,
)
from codemods.frameworks.training import questions
from codemods.frameworks.training.objects import cast_outside
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import LOOPS, own
from codemods.syntax.verbs import Verb, insert_after, insert_before, replace

rule = Rule(
    code="SCL005",
    name="optimizer-step-beside-scaler",
    summary="`optimizer.step()` uses gradients that are still multiplied by the loss scale",
    fix_title="Step with the scaler",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.SIZES,
    knows=AROUND_STEPS,
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
        if not scaler.sure or scaler.disabled or training.hides("unscale_"):
            continue
        perhaps = () if scaler.steps else training.perhaps  # a scheduler, or a moving average
        told = [(p, _wrong(training, scaler, p, spelled(ctx, _receiver(p)))) for p in (*training.plain, *perhaps)]
        wrong = [(step, violation) for step, violation in told if violation is not None]
        for step, violation in wrong:
            yield _draft(training, scaler, step, violation, last=step is wrong[-1][0])
        yield from _in_functions(training, scaler)


def _receiver(step: ast.Call) -> ast.expr | None:
    return step.func.value if isinstance(step.func, ast.Attribute) else None


def _wrong(training: Training, scaler: Scaler, node: ast.Call, optimizer: str | None) -> Violation | None:
    """What shows that a call steps an optimizer with gradients that a scaler has scaled; its name says how they are."""
    ctx = training.ctx
    if optimizer is None or any(
        training.contrary(each, node) or given_optimizer(ctx, each) in (optimizer, None) for each in scaler.steps
    ):
        return None
    own_tests = questions.own_tests(ctx, node)
    found = violations(ctx, training.scope, _cast(scaler, optimizer))
    for each in sorted(found, key=lambda each: ("scaled", "unscaled", "doubtful").index(each.name)):
        if each.node is not node or each.since is None:
            continue
        arms = [other for other in each.passed if other is each.since or training.exclusive(other, each.since)]
        if not each.hangs_only_on([*own_tests, *arms]):
            continue
        if not (isinstance(each.since, ast.Call) and training.contrary(training.scaling(scaler, each.since), node)):
            return each
    return None


def _cast(scaler: Scaler, optimizer: str) -> dict[str, str]:
    return {"scaler": scaler.name, "optimizer": optimizer}


def _in_functions(training: Training, scaler: Scaler) -> Iterator[Draft]:
    """Reports of steps in functions that are called after a scaled backward."""
    ctx = training.ctx
    for call in training.calls if scaler.backwards else ():
        if (target := callee(ctx, call)) is None:
            continue
        where, function = target
        for inner in own(function):
            owner = stepped(where, inner) if isinstance(inner, ast.Call) else None
            name = where.name(owner)
            if owner is None or name is None or not isinstance(inner, ast.Call):
                continue
            optimizer = cast_outside(ctx, call, where, function, {"optimizer": name}).get("optimizer")
            violation = _wrong(training, scaler, call, optimizer)
            if optimizer is None or violation is None or violation.name == "unscaled":
                continue
            written = ctx.written(call.func)
            message = f"`{written}` steps `{optimizer}` with gradients that are multiplied by the loss scale"
            is_bug = [
                is_scaler(training, scaler),
                steps_an_optimizer(where, owner),
                nothing_else_unscales(training, scaler, call),
                nothing_else_steps(training, scaler),
                step_is_its_own(ctx),
                no_hook_changes_a_step(ctx),
                gradients_stay_scaled(ctx, training.scope, _cast(scaler, optimizer), violation),
            ]
            yield rule.finding(call, message=message, is_bug=is_bug, evidence=[where.evidence(inner, "the step")])


def _draft(training: Training, scaler: Scaler, step: ast.Call, violation: Violation, *, last: bool) -> Draft:
    ctx, unscaled = training.ctx, violation.name == "unscaled"
    assert isinstance(step.func, ast.Attribute)
    owner = spelled(ctx, step.func.value) or ""
    sees = "takes no notice of overflows" if unscaled else "uses gradients that are multiplied by the loss scale"
    message = f"`{owner}.step()` {sees}: `{scaler.name}.step({owner})` is meant"
    between = [n for n in training.between(scaler.backwards[-1], step) if isinstance(n, ast.Call)]
    untouched = gradients_are_untouched(ctx, [n for n in between if takes_parameters(ctx, n)])
    is_bug = [
        is_scaler(training, scaler),
        scaler_is_on(ctx, scaler),
        steps_an_optimizer(ctx, step.func.value),
        nothing_else_unscales(training, scaler, step),
        nothing_else_steps(training, scaler),
        step_is_its_own(ctx),
        no_hook_changes_a_step(ctx),
        untouched,
        gradients_stay_scaled(ctx, training.scope, _cast(scaler, owner), violation),
        *([overflows_are_not_tested(training, scaler.backwards[-1], step)] if unscaled else []),
    ]
    together = any(_together(training, scaler, b, step) for b in scaler.backwards)
    plain = not (step.args or step.keywords or scaler.steps) and isinstance(ctx.parent(step), ast.Expr)
    fix = _before_clips(training, scaler, step, owner) if not unscaled else []
    if not plain or not together or untouched.is_unknown or fix is None:
        return rule.finding(step, message=message, is_bug=is_bug)
    fix.append(replace(step, f"{scaler.name}.step({ctx.source(step.func.value)})"))
    if last and not scaler.updates and not _updated_elsewhere(training, scaler):
        fix.append(insert_after(step, f"{scaler.name}.update()"))
    return rule.finding(step, fix=fix, message=message, is_bug=is_bug)


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
