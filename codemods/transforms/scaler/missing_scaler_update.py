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

from collections.abc import Iterator, Sequence
from itertools import combinations

import libcst as cst

from codemods.frameworks.grad_scaler.between import always, names_in
from codemods.frameworks.grad_scaler.elsewhere import home, names, unrelated
from codemods.frameworks.grad_scaler.receivers import SCALER, optimizer, spelled, values
from codemods.frameworks.grad_scaler.steps import Scaler, Training, trainings
from codemods.model.edits import Consequence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow
from codemods.syntax.rewrite import insert

rule = Rule(
    code="SCL002",
    name="missing-scaler-update",
    summary="a scaler steps optimizers and is never updated",
    fix_title="Call `scaler.update()` once per iteration",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    triggers=(("step",), ("GradScaler", "scaler", "scale", "unscale_")),
    errors=(
        "step() has already been called since the last update().",
        "unscale_() is being called after step().",
    ),
    references=("https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler.update",),
)


_SUITES = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)


@rule.on(cst.Module)
def missing_update(_: cst.Module, ctx: Context) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if scaler.steps and not scaler.updates and not scaler.disabled and not _updated(training, scaler):
                yield from _of_scaler(training, scaler)


def _of_scaler(training: Training, scaler: Scaler) -> Iterator[Draft]:
    """One finding for the steps of each loop."""
    groups: dict[cst.CSTNode | None, list[cst.CSTNode]] = {}
    again: set[cst.CSTNode | None] = set()
    for step in scaler.steps:
        whole, loop = _whole(training, scaler, step)
        around = flow.loop_around(training.ctx.parents, whole)
        groups.setdefault(around, []).append(whole)
        if _comes_again(training, scaler) if loop is None else not _made_inside(training, scaler, loop):
            again.add(around)
    found = [steps for around, steps in groups.items() if around in again]
    obstacle = next((o for steps in found if (o := _obstacle(training, scaler, steps))), "")
    yield from (_draft(training, scaler, steps, obstacle) for steps in found)


def _whole(training: Training, scaler: Scaler, step: cst.Call) -> tuple[cst.CSTNode, cst.CSTNode | None]:
    """The step, or the loop over optimizers that it is the body of; and the loop that brings the same step again."""
    parents = training.ctx.parents
    whole: cst.CSTNode = step
    loop: cst.CSTNode | None = flow.loop_around(parents, step)
    while isinstance(loop, cst.For) and _names(loop.target) & _names(optimizer(step)):
        if not any(loop in training.ctx.ancestors(b) for b in scaler.backwards):
            whole = loop
        loop = flow.loop_around(parents, loop)
    return whole, loop


def _names(node: cst.CSTNode | None) -> set[str]:
    return {n.value for n in (node, *flow.own(node)) if isinstance(n, cst.Name)} if node is not None else set()


def _updated(training: Training, scaler: Scaler) -> bool:
    """Whether anything may update the scaler, or it is not made where that can be seen."""
    ctx = training.ctx
    if not scaler.sure or not (scaler.constructors or (_made_in_project(ctx) and _called_in_project(training))):
        return True
    made_in = home(training, scaler)
    if isinstance(made_in, cst.FunctionDef):
        inside = [n for kind in (cst.Name, cst.Attribute) for n in ctx.all(kind) if made_in in ctx.ancestors(n)]
        if any(isinstance(n, cst.Attribute) and ctx.name(n) == f"{scaler.name}.update" for n in inside):
            return True
        return _leaks(ctx, inside, scaler.name)
    mine = isinstance(made_in, cst.Module) and not ctx.index.imported_elsewhere(ctx.path, scaler.name)
    for path in (ctx.path,) if mine else ctx.index.search(ctx.path, (b"update",)):
        other = ctx.other(path)
        if other is None or any(_updates(other, a, scaler, training) for a in other.all(cst.Attribute)):
            return True
    if not scaler.constructors and _leaks_elsewhere(ctx, scaler.name):
        return True
    return _leaks(ctx, ctx.all(type(cst.parse_expression(scaler.name))), scaler.name)


def _updates(other: Context, attribute: cst.Attribute, scaler: Scaler, training: Training) -> bool:
    """Whether `….update` of some file may be that of this scaler."""
    if attribute.attr.value != "update":
        return False
    last, known_as = scaler.name.rpartition(".")[2], names(other, attribute.value) or {"scaler"}
    if last not in known_as:
        if not any("scaler" in name.lower() for name in known_as) or _is_another(other, attribute.value):
            return False
    return not scaler.constructors or not unrelated(training, scaler, other, attribute)


def _is_another(ctx: Context, receiver: cst.BaseExpression) -> bool:
    """Whether a scaler of another name is made in sight, and so is another one."""
    made = values(ctx, receiver)
    return bool(made) and all(isinstance(value, cst.Call) for _, value in made or ())


def _made_in_project(ctx: Context) -> bool:
    for path, setting in ctx.index.settings(ctx.path):
        if setting.call.dotted and ctx.index.resolve(path, setting.call.dotted) <= SCALER:
            return bool(ctx.index.resolve(path, setting.call.dotted))
    return False


def _called_in_project(training: Training) -> bool:
    """Whether a caller of the function that is given the scaler is in sight."""
    ctx, scope = training.ctx, training.scope
    if not isinstance(scope, cst.FunctionDef):
        return False
    mine = (ctx.path, ctx.qualified(scope))
    for path in ctx.index.search(ctx.path, (scope.name.value.encode(),)):
        other = ctx.other(path)
        for call in other.all(cst.Call) if other else ():
            if other and (other.name(call.func) or "").rpartition(".")[2] == scope.name.value:
                target = other.callee(call)
                if target and (target[0].path, target[0].qualified(target[1])) == mine:
                    return True
    return False


def _leaks(ctx: Context, nodes: Sequence[cst.CSTNode], name: str) -> bool:
    """Whether the scaler itself (not a method of it) is given away to code that may update it, or cannot be seen."""
    for node in nodes:
        if ctx.name(node) != name:
            continue
        above = ctx.parent(node)
        if isinstance(above, (cst.Attribute, cst.AssignTarget, cst.AnnAssign, cst.Comparison, cst.If, cst.Param)):
            continue
        call = ctx.parent(above) if isinstance(above, cst.Arg) else None
        target = ctx.callee(call) if isinstance(call, cst.Call) else None
        if target is None or names_in(*target, ("update",)):
            return True
    return False


def _leaks_elsewhere(ctx: Context, name: str) -> bool:
    """For a parameter: whether another file gives a scaler of this name to code that cannot be seen."""
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        other = ctx.other(path)
        if other is None or (other is not ctx and _leaks(other, other.all(cst.Name), name)):
            return True
    return False


def _comes_again(training: Training, scaler: Scaler) -> bool:
    """Whether a step outside of any loop runs more than once: not with a scaler that the function makes itself."""
    return home(training, scaler) is not training.scope and isinstance(training.scope, cst.FunctionDef)


def _made_inside(training: Training, scaler: Scaler, loop: cst.CSTNode) -> bool:
    """Whether each round of the loop makes a scaler anew."""
    ctx = training.ctx
    return any(loop in ctx.ancestors(b.node) for b in ctx.bindings(training.scope).get(scaler.name, ()))


def _draft(training: Training, scaler: Scaler, steps: list[cst.CSTNode], obstacle: str) -> Draft:
    ctx = training.ctx
    node = next(s for s in scaler.steps if _within(ctx, s, steps[-1:]))
    message = f"`{scaler.name}.step(…)` without `{scaler.name}.update()`: the second iteration fails"
    if obstacle:
        return rule.finding(node, message=f"{message} ({obstacle})")
    fix = insert(ctx, _last(ctx, steps), [f"{scaler.name}.update()"], after=True)
    return rule.finding(node, fix=fix, message=message)


def _last(ctx: Context, steps: list[cst.CSTNode]) -> cst.CSTNode:
    """Where the update goes after: the last step, or what holds it beside the others."""
    if len(steps) == 1:
        return steps[0]
    around = [steps[-1], *ctx.ancestors(steps[-1])]
    home = next(n for n in around if isinstance(n, _SUITES) and all(n in ctx.ancestors(s) for s in steps))
    last = around[around.index(home) - 1]
    return last if isinstance(last, cst.BaseCompoundStatement) else steps[-1]


def _within(ctx: Context, step: cst.Call, wholes: list[cst.CSTNode]) -> bool:
    return any(w is step or w in ctx.ancestors(step) for w in wholes)


def _obstacle(training: Training, scaler: Scaler, steps: list[cst.CSTNode]) -> str:
    """What forbids to append an update."""
    ctx, anchor = training.ctx, _last(training.ctx, steps)
    for step in scaler.steps:
        if not isinstance(ctx.statement(step), (cst.Expr, cst.Assign)) or not always(ctx, step):
            return "it is part of a larger statement"
    for node in training.nodes:
        if isinstance(node, (cst.Continue, cst.Break, cst.Return)):
            if training.before(steps[0], node) and training.before(node, steps[-1]):
                return "the last step can be skipped"
    for first, second in combinations([s for s in scaler.steps if _within(ctx, s, steps)], 2):
        given = spelled(ctx, optimizer(first))
        if training.before(first, second) and given in (None, spelled(ctx, optimizer(second))):
            return "an optimizer is stepped twice, which needs an update in between"
    for later in scaler.steps:
        if training.before(anchor, later):
            if not any(training.before(anchor, b) and training.before(b, later) for b in scaler.backwards):
                return "another optimizer is stepped later, with gradients of the same scale"
    if scaler.backwards:
        return ""
    elsewhere = [s for s in ctx.all(cst.Call) if ctx.name(s.func) == f"{scaler.name}.step" and s not in scaler.steps]
    roots = {(spelled(ctx, optimizer(s)) or "").partition(".")[0].partition("[")[0] for s in scaler.steps}
    scope = training.scope
    method = ctx.method(scope)
    taken = {p.name.value for p in scope.params.params} if isinstance(scope, cst.FunctionDef) else set()
    taken -= {method.self} if method else set()
    if elsewhere or roots & (taken | {""}):
        return "this function may run once for each of several optimizers"
    return ""
