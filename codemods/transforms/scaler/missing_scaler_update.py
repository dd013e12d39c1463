"""`scaler.step(optimizer)` without `scaler.update()` anywhere.

## Why is this bad?
`update()` adjusts the scale after each iteration, and makes the scaler ready for the next. Without it the second
iteration fails:

    RuntimeError: step() has already been called since the last update().

or, where gradients are unscaled before they are clipped,

    RuntimeError: unscale_() is being called after step().

In every version of torch that has a `GradScaler`, up to 2.15.

## Fix safety
Safe: `scaler.update()` is appended once per iteration, after the last `scaler.step` of the loop body, and after the
loop where one runs over optimizers (an update between two optimizers would step them with different scales). A
disabled scaler ignores the call.

## When it is not offered
Only for scalers made in this project. Only reported where the step is part of a larger statement, where a backward
scaled before the new call is stepped after it, and where the step stands in a function of its own that may run once for
each of several optimizers.

Silent where anything in the project updates a scaler of this name, or one that goes under another name there
(`s = engine.scaler; s.update()`), where the scaler is handed to code that cannot be followed, and where no second
iteration is in sight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations

from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import given
from codemods.analysis.grad_scaler import SCALER, Scaler, given_optimizer, optimizer
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.mentions import mentions
from codemods.analysis.optimizers import are_different
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, trainings
from codemods.analysis.scaler_lifetime import home
from codemods.analysis.sources import sources
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.scaler.questions import nothing_else_steps, nothing_updates, updates
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, LOOPS, Scope, own
from codemods.syntax.verbs import insert_after

rule = Rule(
    code="SCL002",
    name="missing-scaler-update",
    summary="a scaler steps optimizers and is never updated",
    fix_title="Call `scaler.update()` once per iteration",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.FACTOR,
    follows=True,
    computed=Computed.NOTHING,
    knows=AROUND_STEPS,
    triggers=(("step",), ("GradScaler", "scaler", "scale", "unscale_")),
    errors=(
        "step() has already been called since the last update().",
        "unscale_() is being called after step().",
    ),
    references=("https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.update",),
)

Loop = ast.For | ast.AsyncFor | ast.While
_ROUNDS = (*LOOPS, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@rule.on(ast.Module)
def missing_update(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if scaler.steps and not scaler.updates and not scaler.disabled and _is_followed(training, scaler):
                is_bug = nothing_updates(training, scaler)
                if not is_bug.is_no:
                    yield from _of_scaler(training, scaler, is_bug)


def _of_scaler(training: Training, scaler: Scaler, is_bug: Answer) -> Iterator[Draft]:
    """One finding for the steps of each loop."""
    groups: dict[ast.AST | None, list[ast.AST]] = {}
    again: set[ast.AST | None] = set()
    for step in scaler.steps:
        whole, loop = _whole(training, scaler, step)
        around = training.flow.loop(whole)
        groups.setdefault(around, []).append(whole)
        if loop is None:
            comes_again = _comes_again(training, scaler)
        else:  # a loop that is left after its first step has no second one (left_at_once)
            names = (scaler.name, given_optimizer(training.ctx, step))
            anew = any(_made_inside(training, each, loop) for each in names)
            comes_again = training.flow.comes_round(step, step) and not anew
        if comes_again:
            again.add(around)
    found = [steps for around, steps in groups.items() if around in again]
    obstacle = next((o for steps in found if (o := _obstacle(training, scaler, steps))), "")
    yield from (_draft(training, scaler, steps, obstacle, is_bug) for steps in found)


def _whole(training: Training, scaler: Scaler, step: ast.Call) -> tuple[ast.AST, Loop | None]:
    """The step, or the loop over optimizers that it is the body of; and the loop that brings the same step again."""
    whole: ast.AST = step
    loop = training.flow.loop(step)
    given = optimizer(step)
    made_of = (
        {n.id for n in sources(training.ctx, training.scope, given) if isinstance(n, ast.Name)} if given else set()
    )
    while isinstance(loop, ast.For) and _names(loop.target) & made_of:
        if not any(training.inside(b, loop) for b in scaler.backwards):
            whole = loop
        loop = training.flow.loop(loop)
    return whole, loop


def _made_of(training: Training, step: ast.Call) -> set[str]:
    """The names by which a step comes to its optimizer."""
    given = optimizer(step)
    nodes = sources(training.ctx, training.scope, given) if given is not None else ()
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def _names(node: ast.AST | None) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node is not None else set()


def _is_followed(training: Training, scaler: Scaler) -> bool:
    """Whether the scaler is made in this project, and handed to nobody who cannot be looked into."""
    ctx = training.ctx
    if not scaler.sure or not (scaler.constructors or (_made_in_project(ctx) and _called_in_project(training))):
        return False
    made_in = home(training, scaler)
    if isinstance(made_in, FUNCTIONS):
        inside = [n for n in ctx.all(ast.Name, ast.Attribute) if training.inside(n, made_in)]
        return not _leaks(ctx, inside, scaler.name)
    if "." in scaler.name:
        return not _leaks(ctx, ctx.all(ast.Attribute), scaler.name)
    if isinstance(made_in, ast.Module):
        return not _leaks(ctx, ctx.all(ast.Name), scaler.name)
    return not _leaks(ctx, training.nodes, scaler.name) and not _leaks_from_callers(ctx, training.scope, scaler.name)


def _made_in_project(ctx: PythonContext) -> bool:
    for path, setting in ctx.index.settings(ctx.path):
        if setting.call.dotted and ctx.index.resolve(path, setting.call.dotted) <= SCALER:
            return bool(ctx.index.resolve(path, setting.call.dotted))
    return False


def _called_in_project(training: Training) -> bool:
    """Whether a caller of the function that is given the scaler is in sight."""
    ctx, scope = training.ctx, training.scope
    if not isinstance(scope, FUNCTIONS):
        return False
    for path in ctx.index.search(ctx.path, (scope.name.encode(),)):
        other = ctx.other(path)
        for call in other.all(ast.Call) if other else ():
            if other and (other.name(call.func) or "").rpartition(".")[2] == scope.name:
                target = other.callee(call)
                if target is not None and target[1] is scope:
                    return True
    return False


def _leaks(ctx: PythonContext, nodes: Sequence[ast.AST], name: str) -> bool:
    """Whether the scaler itself (not a method of it) is given away to code that may update it, or cannot be seen."""
    for node in nodes:
        if ctx.name(node) != name or not isinstance(getattr(node, "ctx", None), ast.Load):
            continue
        above = ctx.parent(node)
        if isinstance(above, (ast.Attribute, ast.Compare, ast.If, ast.AnnAssign)):
            continue
        call = ctx.parent(above) if isinstance(above, (ast.keyword, ast.Starred)) else above
        target = ctx.callee(call) if isinstance(call, ast.Call) and call.func is not node else None
        if target is None or any(updates(where, node) for where, node in ReachedCode([target]).nodes):
            return True
    return False


def _leaks_from_callers(ctx: PythonContext, scope: Scope, name: str) -> bool:
    """Whether a function that gives a scaler for a parameter also gives it to code that cannot be seen."""
    for each in given(ctx, scope, name) if isinstance(scope, FUNCTIONS) else ():
        if each is None:
            return True
        where, value = each
        written = where.name(value)
        nodes = where.all(ast.Attribute) if written and "." in written else [*own(where.scope(value))]
        if written is not None and _leaks(where, nodes, written):
            return True
    return False


def _comes_again(training: Training, scaler: Scaler) -> bool:
    """Whether a step outside of any loop runs more than once: not with a scaler that the function makes itself."""
    return home(training, scaler) is not training.scope and isinstance(training.scope, FUNCTIONS)


def _made_inside(training: Training, name: str | None, loop: Loop) -> bool:
    """Whether each round of the loop makes a scaler or an optimizer anew, which has its own state (`one_step_each`)."""
    bindings = training.ctx.bindings(training.scope).get(name or "", ())
    return any(training.inside(b.node, loop) and isinstance(b.value, ast.Call) for b in bindings)


def _draft(training: Training, scaler: Scaler, steps: list[ast.AST], obstacle: str, is_bug: Answer) -> Draft:
    node = next(s for s in scaler.steps if _within(training, s, steps[-1:]))
    message = f"`{scaler.name}.step(…)` without `{scaler.name}.update()`: the second iteration fails"
    if obstacle:
        message = f"{message} ({obstacle})"
    fix = None if obstacle or is_bug.is_unknown else [insert_after(_last(training, steps), f"{scaler.name}.update()")]
    is_right = [nothing_else_steps(training, scaler)]
    return rule.finding(
        node, fix=fix, message=message, is_bug=[is_bug, object_stays(training, scaler)], is_right=is_right
    )


@question
def object_stays(training: Training, scaler: Scaler) -> Answer:
    """Whether no loop makes the objects anew that hold a scaler, or goes through them: each may step once
    (`object_of_each_round`, `object_for_each_round`).
    """
    ctx = training.ctx
    holder, _, held = scaler.name.partition(".")
    owner = ctx.klass(training.scope) if held else None
    made = mentions(ctx, owner.name.rpartition(".")[2]) if owner is not None else ()
    rounds = [each for each in training.nodes if isinstance(each, ast.For | ast.AsyncFor)]
    stepped = [
        given for step in scaler.steps if (given := optimizer(step)) is not None and _is_of_a_round(training, given)
    ]
    taken = [each.target for each in rounds if holder in _names(each.target)]
    return unless(
        (
            *(ctx.evidence(each, "each round may have a scaler of its own") for each in taken),
            *(ctx.evidence(each, "each round may step an optimizer of its own") for each in stepped),
            *(
                each.evidence("each round may make a scaler of its own")
                for each in made
                if each.call is not None and any(isinstance(a, _ROUNDS) for a in each.ctx.ancestors(each.call))
            ),
        )
    )


def _is_of_a_round(training: Training, given: ast.expr) -> bool:
    """Whether each round may have an optimizer of its own: a call gives it, or a name that is bound in the round.

    Fixture: `made_of_one_of_each_round`.
    """
    loop = training.flow.loop(given)
    if loop is not None and any(isinstance(each, ast.Call) for each in ast.walk(given)):
        return True
    bindings = training.ctx.bindings(training.scope)
    return loop is not None and any(
        training.inside(each.node, loop) and isinstance(each.node, (ast.Assign, ast.AnnAssign, ast.NamedExpr))
        for name in _names(given)
        for each in bindings.get(name, ())
    )


def _last(training: Training, steps: list[ast.AST]) -> ast.AST:
    """Where the update goes after: the last step, or what holds it beside the others."""
    if len(steps) == 1:
        return steps[0]
    below: ast.AST = steps[-1]
    for above in training.ctx.ancestors(steps[-1]):
        if isinstance(below, ast.stmt) and all(
            training.conditions(s, training.ctx.module.block(below)) is not None for s in steps
        ):
            return below if hasattr(below, "body") else steps[-1]
        below = above
    return steps[-1]  # pragma: no cover


def _within(training: Training, step: ast.Call, wholes: list[ast.AST]) -> bool:
    return any(w is step or training.inside(step, w) for w in wholes)


def _obstacle(training: Training, scaler: Scaler, steps: list[ast.AST]) -> str:
    """What forbids to append an update."""
    ctx, anchor = training.ctx, _last(training, steps)
    for step in scaler.steps:
        if not isinstance(ctx.statement(step), (ast.Expr, ast.Assign)) or not training.always(step):
            return "it is part of a larger statement"
    for node in training.nodes:
        if isinstance(node, (ast.Continue, ast.Break, ast.Return)):
            if training.before(steps[0], node) and training.before(node, steps[-1]):
                return "the last step can be skipped"
    for first, second in combinations([s for s in scaler.steps if _within(training, s, steps)], 2):
        given = optimizer(first), optimizer(second)
        apart = given[0] is not None and given[1] is not None and are_different(ctx, given[0], given[1])
        if training.before(first, second) and not apart:
            return "an optimizer is stepped twice, which needs an update in between"
    for later in scaler.steps:
        if training.before(anchor, later):
            if not any(training.before(anchor, b) and training.before(b, later) for b in scaler.backwards):
                return "another optimizer is stepped later, with gradients of the same scale"
    if scaler.backwards:
        return ""
    elsewhere = [s for s in ctx.all(ast.Call) if ctx.name(s.func) == f"{scaler.name}.step" and s not in scaler.steps]
    roots = {name for step in scaler.steps for name in _made_of(training, step) or {""}}
    scope, method = training.scope, ctx.method(training.scope)
    taken = {p.arg for p in scope.args.args} if isinstance(scope, FUNCTIONS) else set()
    taken -= {method.self} if method else set()
    if elsewhere or roots & (taken | {""}):
        return "this function may run once for each of several optimizers"
    return ""
