"""`scaler.update()` between the steps of two optimizers whose gradients were scaled together.

`update()` may change the scale: it halves it after an overflow, and doubles it after 2,000 calls without one. The step
of the second optimizer divides its gradients by the new scale, but they were multiplied by the old one.

## Why is this bad?
Nothing is raised. After an overflow in the gradients of the first optimizer the second one takes a step twice too
large; where the scale grows in between, a step half as large. With two updates per iteration the scale also grows twice
as often, and is halved twice where the gradients of both overflow.

Where the second optimizer is unscaled before the first update (to clip its gradients), every iteration is wrong:
`update()` forgets which optimizers are unscaled, and the step divides the same gradients by the scale again. The
parameters hardly move.

## Fix safety
Unsafe: the earlier calls of `update()` are deleted and the last one stays; an update in a loop over optimizers moves
behind the loop. Training goes on differently from the first iteration in which the scale changed, and the scale grows
at another pace.

## When it is not offered
Only reported where the last update may be skipped, where the code calls `get_scale()` in between (to see whether a step
was skipped), and where one optimizer is stepped or unscaled twice.

Silent where something between the update and the step may make new gradients: a backward, `scaler.scale`, code that
cannot be followed. Each optimizer with a backward, a step and an update of its own, one after the other (the usual GAN
loop), is right. Also silent where the update may not have run before the step (under an `if` of its own), where
`update` is given a scale, and where the receiver is not surely a `GradScaler`. A loop over optimizers of which the
number cannot be seen is only reported, as a matter of style.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.grad_scaler import Scaler, given_optimizer, optimizer
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.instances import callee
from codemods.analysis.optimizers import is_schedule, optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings, writes
from codemods.analysis.values import expressions, possible_values
from codemods.flow.answers import Answer, question, unknown, unless
from codemods.frameworks.scaler.questions import (
    no_scaler_may_be_off,
    scale_may_change,
    updates_with_the_same_gradients,
)
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import delete, insert_after

rule = Rule(
    code="SCL008",
    name="update-per-optimizer",
    summary="`scaler.update()` between the steps of optimizers whose gradients were scaled together",
    fix_title="Update the scaler once, after the last step",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("update",)),
    references=(
        "https://docs.pytorch.org/docs/stable/notes/amp_examples.html#working-with-multiple-models-losses-and-optimizers",
    ),
)

_LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)
_MAKES_GRADIENTS = ("scale", "backward", "grad")
_PLAIN = ("builtins.enumerate", "builtins.zip", "builtins.range", "builtins.len", "builtins.list")
_HARMLESS = ("zero_grad", "item", "parameters", "get_last_lr")


@rule.on(ast.Module)
def update_per_optimizer(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if scaler.sure and not scaler.disabled and not training.hides("scale"):
                for update in scaler.updates:
                    if not update.args and not update.keywords:
                        yield from _between_steps(training, scaler, update) or _in_loop(training, scaler, update)


# -- one step after the other


def _between_steps(training: Training, scaler: Scaler, update: ast.Call) -> list[Draft]:
    """The finding for an update that stands before the step of another optimizer."""
    earlier = set(_optimizers(training, (s for s in scaler.steps if training.reaches(s, update))))
    if not earlier or None in earlier:
        return []
    late = next((s for s in scaler.steps if _is_late(training, scaler, update, s, earlier)), None)
    if late is None:
        return []
    ctx, last = training.ctx, given_optimizer(training.ctx, late)
    message = f"`{scaler.name}.update()` may change the scale before `{scaler.name}.step({last})` divides by it"
    evidence = []
    for call in scaler.unscales:
        if given_optimizer(ctx, call) == last and training.flow.dominates(call, update):
            if not _new_gradients(training, scaler, training.between(call, update)):
                message = f"after `{scaler.name}.update()` the gradients of `{last}` are divided by the scale again"
                evidence = [ctx.evidence(call, f"the gradients of `{last}` are divided here")]
    fix = [delete(update)] if _is_followed(training, scaler, update) else None
    is_bug = [
        updates_with_the_same_gradients(ctx, _steps_between(training, update, late)),
        scale_may_change(training, scaler),
        no_scaler_may_be_off(ctx),
        scaler_is_not_bound_anew(training, scaler, update, late),
    ]
    return [rule.finding(update, fix=fix, message=message, is_bug=is_bug, evidence=evidence)]


@question
def scaler_is_not_bound_anew(training: Training, scaler: Scaler, update: ast.Call, step: ast.Call) -> Answer:
    """Whether a name means the same scaler at an update and at a later step (`swapped`)."""
    return unless(
        training.ctx.evidence(node, f"`{scaler.name}` may be another scaler from here on")
        for node in training.between(update, step)
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store)
        if training.ctx.name(node) == scaler.name
    )


def _steps_between(training: Training, update: ast.Call, step: ast.Call) -> Iterator[ast.Call]:
    """The calls of `x.step()` in between, where `x` may be anything."""
    return (each for each in training.perhaps if each in set(training.between(update, step)))


def _is_late(training: Training, scaler: Scaler, update: ast.Call, step: ast.Call, earlier: set[str | None]) -> bool:
    """Whether a step surely comes after an update, of another optimizer, with gradients made before."""
    given = given_optimizer(training.ctx, step)
    if given is None or given in earlier:
        return False
    if not training.flow.dominates(update, step) or training.flow.loop(update) is not training.flow.loop(step):
        return False
    return training.before(update, step) and not _new_gradients(training, scaler, training.between(update, step))


def _is_followed(training: Training, scaler: Scaler, update: ast.Call) -> bool:
    """Whether the next update surely runs, and does for all steps what the two do now."""
    following = next((u for u in scaler.updates if training.reaches(update, u)), None)
    if following is None or following.args or following.keywords or not _stands_alone(training, update):
        return False
    if training.conditions(following, training.block(update)) != [] or not training.always(following):
        return False
    between = set(training.between(update, following))
    if any(isinstance(n, _LEAVES) or n in scaler.looks for n in between) or _new_gradients(training, scaler, between):
        return False
    steps = _optimizers(training, (s for s in scaler.steps if s in between or training.reaches(s, update)))
    unscaled = _optimizers(training, (u for u in scaler.unscales if u in between or training.reaches(u, update)))
    return all(None not in names and len(set(names)) == len(names) for names in (steps, unscaled))


def _optimizers(training: Training, calls: Iterable[ast.Call]) -> list[str | None]:
    return [given_optimizer(training.ctx, call) for call in calls]


# -- in a loop over optimizers


def _in_loop(training: Training, scaler: Scaler, update: ast.Call) -> list[Draft]:
    """The finding for an update in a loop over optimizers."""
    loop = training.flow.loop(update)
    if not isinstance(loop, ast.For) or not training.always(update):
        return []
    body = [n for n in training.nodes if any(training.inside(n, each) for each in loop.body)]
    steps = [s for s in scaler.steps if _is_of_round(training, loop, s, update)]
    count = _count(training.ctx, loop.iter)
    if not steps or count in (0, 1) or _new_gradients(training, scaler, body) or _is_lazy(training.ctx, loop.iter):
        return []
    whole = (loop, "body")
    stays = any(isinstance(n, _LEAVES) or n in scaler.looks or (n in scaler.updates and n is not update) for n in body)
    unconditional = all(training.conditions(n, whole) == [] for n in (*steps, update))
    fix = None
    if unconditional and not stays and not loop.orelse and _stands_alone(training, update):
        fix = [delete(update), insert_after(loop, f"{scaler.name}.update()")]
    message = f"`{scaler.name}.update()` may change the scale between the steps of the optimizers in this loop"
    if count is None:
        one = unknown(training.ctx.evidence(loop.iter, "there may be one optimizer"))
        return [rule.finding(update, message=message, is_bug=[one])]
    return [rule.finding(update, fix=fix, message=message)]


def _is_of_round(training: Training, loop: ast.For, step: ast.Call, update: ast.Call) -> bool:
    """Whether each round of a loop steps an optimizer of its own, then updates, and goes on."""
    names = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    given = optimizer(step)
    if given is None or not names & {n.id for n in ast.walk(given) if isinstance(n, ast.Name)}:
        return False
    if training.flow.loop(step) is not loop or not training.before(step, update):
        return False
    leaves = [n for n in training.nodes if isinstance(n, (ast.Break, ast.Return, ast.Raise))]
    if any(training.inside(n, loop) and training.reaches(update, n) for n in leaves):
        return False
    return [] in (training.conditions(update, training.block(step)), training.conditions(update, (loop, "body")))


def _count(ctx: PythonContext, values: ast.expr) -> int | None:
    """How many values a loop runs over; None: it cannot be seen."""
    match values:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return None if any(isinstance(e, ast.Starred) for e in elements) else len(elements)
        case ast.Dict(keys=keys):
            return None if None in keys else len(keys)
        case ast.Call(args=[first, *_]) if ctx.calls(values, "builtins.enumerate", "builtins.zip"):
            return _count(ctx, first)
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "values"), args=[]):
            return _count(ctx, value)
        case ast.Name():
            given = expressions(ctx, values)
            if len(given) == 1 and isinstance(given[0][1], (ast.List, ast.Tuple, ast.Dict)):
                count = _count(*given[0])
                return count if count is not None and count > 1 else None  # a shorter list may be extended later
    return None


def _is_lazy(ctx: PythonContext, values: ast.expr, depth: int = 1) -> bool:
    """Whether a loop may run over a generator, which may do anything between two rounds."""
    match values:
        case ast.Call(args=args) if ctx.calls(values, *_PLAIN):
            return any(_is_lazy(ctx, each, depth) for each in args)
        case ast.Call(func=ast.Attribute(value=value, attr="items" | "values"), args=[]):
            return _is_lazy(ctx, value, depth)
        case ast.Name() if depth:
            found = [(v.ctx, v.node) for v in possible_values(ctx, values)[0] if isinstance(v.node, ast.expr)]
            return any(_is_lazy(*each, depth - 1) for each in found)
    return isinstance(values, (ast.Call, ast.GeneratorExp))


# -- what stands in between


def _stands_alone(training: Training, update: ast.Call) -> bool:
    return isinstance(training.ctx.parent(update), ast.Expr)


def _new_gradients(training: Training, scaler: Scaler, nodes: Iterable[ast.AST]) -> bool:
    """Whether one of the nodes may make or change gradients, or cannot be followed."""
    for node in nodes:
        if isinstance(node, (ast.Await, ast.Yield, ast.YieldFrom)):
            return True
        if isinstance(node, ast.Attribute) and (node in scaler.scales or writes(training.ctx, node)):
            return True
        if isinstance(node, ast.Call) and not _is_harmless(training, scaler, node):
            return True
    return False


def _is_harmless(training: Training, scaler: Scaler, call: ast.Call) -> bool:
    """Whether a call surely makes no gradients."""
    ctx, func = training.ctx, call.func
    if any(call in calls for calls in (scaler.steps, scaler.unscales, scaler.updates, scaler.looks)):
        return True
    if ctx.loss_of(call) is not None or training.may_mention(call, scaler.name, _MAKES_GRADIENTS):
        return False
    if call in training.perhaps and not call.args:
        return True  # a step of whatever it is makes none, as far as is known: see `_steps_between`
    if (target := callee(ctx, call)) is not None:
        return not ReachedCode([target]).may_use(_MAKES_GRADIENTS)
    if isinstance(func, ast.Attribute) and func.attr in _HARMLESS:
        return True
    if isinstance(func, ast.Attribute) and func.attr == "step":
        return bool(optimizes(ctx, func.value)) or is_schedule(ctx, func.value)
    origins = ctx.origin(func)
    return bool(origins) and not any(":" in each or each.endswith((".next", ".backward", ".grad")) for each in origins)
