"""A raw `loss.backward()` whose gradients `scaler.step(optimizer)` divides by the loss scale.

## Why is this bad?
Where the scaler scales nothing at all, its first step says so:

    AssertionError: Attempted step but _scale is None.  This may indicate your script did not use
    scaler.scale(loss or outputs) earlier in the iteration.

Where another loss of the same step is scaled (a second loss, a regularizer, the generator of a GAN), nothing is raised:
the gradients of the raw backward are divided by a scale (65,536 to begin with) that was never multiplied in, and that
loss no longer takes part in training. In every version of torch that has a `GradScaler`, up to 2.15.

## Fix safety
Safe: `loss.backward(…)` becomes `scaler.scale(loss).backward(…)`, with the same arguments. A disabled scaler returns
the loss as it is. Where gradients are clipped before `scaler.step`, `scaler.unscale_(optimizer)` is inserted before the
clip, which would see scaled gradients from now on.

Safe means that no other optimizer is seen that might step with these gradients. Unsafe where a module that makes the
loss may have a step of its own (`critic.update()`), and where, beside a scaled loss, a module makes the raw one whose
parameters are not seen in the optimizer that the scaler steps.

## When it is not offered
Only reported where another method of the class, or a function that is called, steps an optimizer without the scaler
(the raw backward may be meant for that one); where `scaler.step` runs under a condition that is no accumulation
(`if use_amp: scaler.step(optimizer) else: optimizer.step()`); and where the receiver is a parameter that is only half
known to be a `GradScaler`.

Silent where the backward is the other arm of a scaled one (`if use_amp: … else: loss.backward()`); where the loss may
have been scaled before (it comes with the arguments, or from code that has the scaler); where its gradients are read,
dropped by `zero_grad()`, or used by another optimizer before the scaler steps.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis import instances
from codemods.analysis.acting import AROUND_STEPS
from codemods.analysis.calls import values
from codemods.analysis.grad_scaler import SCALER, Scaler, given_optimizer, optimizer
from codemods.analysis.gradient_use import (
    Consumers,
    Obstacle,
    ReachedCode,
    consumers,
    gradients_are_for_the_owner,
    gradients_are_taken_back,
    obstacle,
)
from codemods.analysis.gradient_watchers import (
    functions_are_linear,
    no_hook_sees_gradients,
    no_other_code_reads_gradients,
)
from codemods.analysis.instances import callee
from codemods.analysis.optimizers import optimizes, stepped
from codemods.analysis.python_context import PythonContext
from codemods.analysis.scaled_training import Training, discarded, made_of, scaled, trainings
from codemods.analysis.scaler_lifetime import used_anywhere
from codemods.analysis.sources import carried, sources
from codemods.analysis.tensors import METHODS, differentiates_a_tensor
from codemods.analysis.values import possible_values
from codemods.frameworks.scaler.clips import clips_after
from codemods.frameworks.scaler.questions import is_scaler, no_other_step, no_step_is_out_of_sight, nothing_else_scales
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, LOOPS, Function, own
from codemods.syntax.verbs import replace

rule = Rule(
    code="SCL003",
    name="unscaled-backward",
    summary="a raw `backward()` beside a scaler: its gradients are divided by a scale they never had",
    fix_title="Scale the loss before `backward()`",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    effect=Effect.FACTOR,
    follows=True,
    computed=Computed.SIZES,
    knows=AROUND_STEPS,
    triggers=(("backward",), ("step",), ("GradScaler", "scaler", "scale", "unscale_")),
    errors=(
        "Attempted step but _scale is None.",
        "Attempted unscale_ but _scale is None.",
        "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration.",
    ),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html",),
)

MODULE_METHODS = frozenset(
    {"parameters", "named_parameters", "modules", "children", "buffers", "forward", "train", "eval", "to", "cuda"}
    | {"cpu", "float", "half", "state_dict", "load_state_dict", "zero_grad", "requires_grad_", "apply", "backward"}
)


@rule.on(ast.Module)
def unscaled_backward(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        if not training.raw or len(training.scalers) != 1:
            continue
        scaler = training.scalers[0]
        pairs = ((raw, s) for raw in training.raw for s in scaler.steps if training.reaches(raw, s))
        found = [(raw, s) for raw, s in pairs if not training.contrary(raw, s)]
        if found and not scaler.disabled and not _escapes(training, scaler):
            for raw, step in dict(reversed(found)).items():
                if _is_wrong(training, scaler, raw, step):
                    yield _draft(training, scaler, raw, step)


def _escapes(training: Training, scaler: Scaler) -> bool:
    """Whether scaling or stepping cannot be followed: `scale` handed on, or other code that may do either."""
    if training.hides("scale"):
        return True
    return any(
        training.may_mention(call, scaler.name, ("scale", "step"))
        and any(training.before(call, s) for s in scaler.steps)
        for call in training.calls
    )


def _other_optimizer(training: Training, scaler: Scaler) -> bool:
    """Whether the function has an optimizer that the scaler does not step."""
    ctx = training.ctx
    stepped_ones = {given_optimizer(ctx, s) for s in scaler.steps}
    for node in training.nodes:
        name = ctx.name(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if name is not None and name not in stepped_ones and not ctx.origin(node):
            assert isinstance(node, (ast.Name, ast.Attribute))
            if optimizes(ctx, node):
                return True
    loops = [training.flow.loop(step) for step in scaler.steps]
    return any(training.flow.loop(each) in loops for each in training.perhaps) or _hands_on(training, scaler)


def _hands_on(training: Training, scaler: Scaler) -> bool:
    """Whether a call that cannot be looked into is given something that the function uses for nothing else."""
    ctx = training.ctx
    for call in training.calls:
        if call in scaler.steps or call in scaler.unscales:
            continue
        if isinstance(ctx.parent(call), ast.Expr) and callee(ctx, call) is None and not ctx.origin(call.func):
            for given in values(call):
                if isinstance(given, ast.Name) and ctx.scope(given) is training.scope and _is_only_given(ctx, given):
                    return True
    return False


def _is_only_given(ctx: PythonContext, name: ast.Name) -> bool:
    """Whether a parameter is used in its function for nothing but to be handed on."""
    scope = ctx.scope(name)
    if (
        not isinstance(scope, FUNCTIONS)
        or name.id not in ctx.parameter_names(scope)
        or ctx.bindings(scope).get(name.id)
    ):
        return False
    return sum(isinstance(n, ast.Name) and n.id == name.id for n in own(scope)) == 1


def _is_wrong(training: Training, scaler: Scaler, raw: ast.Call, step: ast.Call) -> bool:
    """Whether the raw backward makes gradients that `step` takes for scaled ones."""
    ctx = training.ctx
    loss = ctx.loss_of(raw)
    if loss is None or _may_be_scaled(training, scaler, loss):
        return False
    if any(training.contrary(raw, training.scaling(scaler, b)) for b in scaler.backwards):
        return False
    spoken = ast.dump(loss)
    if any(training.before(d, raw) and ast.dump(d.args[0]) == spoken for d in discarded(ctx, scaler) if d.args):
        return False
    if any(training.before(raw, p) for p in training.plain if not training.exclusive(p, step)):
        return False
    for node in training.between(raw, step):
        if isinstance(node, ast.Attribute) and node.attr in ("zero_grad", "grad"):
            return False
    if (scaler.backwards or scaler.scales) and _other_optimizer(training, scaler):
        return False
    if not training.always(raw):
        return False
    around = training.conditions(raw, training.block(step))
    if around is None:
        return not scaler.backwards or _accumulates(training, scaler, raw, step)
    return all(isinstance(a, LOOPS) for a in around)


def _may_be_scaled(training: Training, scaler: Scaler, loss: ast.expr) -> bool:
    """Whether the loss may hold the scale already: it, or what it is made from, comes from code that may scale."""
    ctx, scope = training.ctx, training.scope
    if made_of(ctx, scope, loss, scaler.name):
        return True
    made = list(sources(ctx, scope, loss))
    if any(isinstance(n, ast.Call) and training.may_mention(n, scaler.name, ("scale", "get_scale")) for n in made):
        return True
    if not isinstance(scope, FUNCTIONS) or not _comes_in(ctx, scope, loss):
        return False
    return used_anywhere(ctx, "scale", "get_scale")


def _comes_in(ctx: PythonContext, scope: Function, loss: ast.expr) -> bool:
    """Whether the loss is an argument of the function, or kept in one, and no call makes it."""
    given = {name for name in ctx.parameter_names(scope) if name != "self"}
    for each in carried(ctx, scope, loss):
        head = each
        while isinstance(head, (ast.Attribute, ast.Subscript)):
            head = head.value
        if isinstance(head, ast.Name) and head.id in given:
            return True
    return False


def _accumulates(training: Training, scaler: Scaler, raw: ast.Call, step: ast.Call) -> bool:
    """Whether the step runs under no other condition than `if (i + 1) % n == 0:`."""
    gates = training.conditions(step, training.block(raw))
    if gates is None or not all(isinstance(g, ast.If) for g in gates):
        return False
    tests = [g.test for g in gates if isinstance(g, ast.If)]
    return all(_asks_modulo(test) and not _asks_for(training.ctx, scaler, test) for test in tests)


def _passes_gates_only(training: Training, scaler: Scaler, raw: ast.Call, step: ast.Call) -> bool:
    """Whether no other test stands between a backward and the step, one that leaves the loop included.

    Fixture: `leaves_early`.
    """
    before = training.flow.tests(raw)
    passed = [text for text, holds in training.flow.tests(step).items() if before.get(text) is not holds]
    tests = [ast.parse(text, mode="eval").body for text in passed]
    return all(_asks_modulo(test) and _counts(test) and not _asks_for(training.ctx, scaler, test) for test in tests)


def _counts(test: ast.expr) -> bool:
    """Whether a test compares numbers and asks nothing else."""
    match test:
        case ast.BoolOp(values=parts):
            return all(map(_counts, parts))
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return _counts(part)
        case ast.Compare(ops=ops):
            return not any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in ops)
    return isinstance(test, ast.BinOp)


def _asks_for(ctx: PythonContext, scaler: Scaler, test: ast.expr) -> bool:
    """Whether a condition asks about the scaler, or about what it is made by: `if use_amp:`."""
    names = {ctx.name(node) for node in ast.walk(test) if isinstance(node, (ast.Name, ast.Attribute))}
    made = {ctx.name(node) for call in scaler.constructors for node in ast.walk(_choice(ctx, call))}
    return bool(names & ({scaler.name} | made) - {None, "self"})


def _choice(ctx: PythonContext, call: ast.Call) -> ast.expr:
    """A call with the `x if c else y` around it."""
    above = ctx.parent(call)
    return above if isinstance(above, ast.IfExp) else call


def _asks_modulo(test: ast.expr) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in ast.walk(test))


def _draft(training: Training, scaler: Scaler, raw: ast.Call, step: ast.Call) -> Draft:
    ctx = training.ctx
    loss = ctx.loss_of(raw)
    assert loss is not None
    written = " ".join(ctx.source(loss).split())
    shown = written if len(written) <= 40 else "loss"
    about = f"`{shown}` is differentiated without the scale that `{scaler.name}.step` divides by"
    direct = training.conditions(raw, training.block(step)) is not None
    change = scaled(ctx, raw, f"{scaler.name}.scale")
    follows = training.always(step) and (direct or _accumulates(training, scaler, raw, step))
    follows = follows and _passes_gates_only(training, scaler, raw, step)
    clips = clips_after(training, scaler, raw) if follows and scaler.sure else None
    fix, answers = ([*clips[0], replace(*change)], clips[1]) if clips is not None and change is not None else ([], [])
    code = _code(training)
    users = _users(training, scaler, raw, loss, code)
    return rule.finding(
        raw,
        fix=fix,
        message=about,
        is_bug=[
            is_scaler(training, scaler),
            differentiates_a_tensor(ctx, raw),
            # another loss that may be scaled is the one that is stepped with (the law of indirections)
            *(nothing_else_scales(training, scaler, each) for each in training.raw),
            no_other_step(training, raw, step),
            gradients_are_for_the_owner(users),
        ],
        is_right=[
            *answers,
            gradients_are_taken_back(users),
            no_hook_sees_gradients(ctx),
            functions_are_linear(ctx),
            no_other_code_reads_gradients(ctx, code, training.looks_at),
            no_step_is_out_of_sight(ctx, code),
        ],
        consequence=Consequence.SILENT if scaler.backwards else None,
    )


def _code(training: Training) -> ReachedCode:
    """The function, what it calls, and the other methods of its class."""
    ctx, scope = training.ctx, training.scope
    method = ctx.method(scope)
    beside = [f for f in own(method.klass) if isinstance(f, FUNCTIONS)] if method else []
    return ReachedCode((ctx, each) for each in (scope, *beside))


def _users(training: Training, scaler: Scaler, raw: ast.Call, loss: ast.expr, code: ReachedCode) -> Consumers:
    """Who else may step with the gradients: functions that are called, methods of the class, the modules themselves.

    What the function itself does with gradients was looked at before.
    """
    ctx = training.ctx

    def undoes(where: PythonContext, node: ast.expr) -> bool | None:
        if where is ctx and ctx.name(node) == scaler.name:
            return True
        kind = instances.of(where, node)
        if kind is None:
            return None
        return True if kind.names <= SCALER else False if optimizes(where, node) else None

    def looked_at(where: PythonContext, node: ast.AST) -> bool:
        return training.looks_at(where, node) and node not in scaler.steps

    others = [*_own_methods(training, loss), *_other_modules(training, scaler, loss)]
    at = ctx.evidence(raw, "it is differentiated here")
    return consumers(code, at, undoes, f"`{scaler.name}`", known_to=looked_at).beside(others)


def _called(training: Training, loss: ast.expr) -> Iterator[tuple[str, ast.Call]]:
    """The names that are called to make a loss, functions and losses of torch left out."""
    ctx = training.ctx
    for node in sources(ctx, training.scope, loss):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in METHODS:
                if ctx.origin(owner):
                    continue  # `F.log_softmax(…)`; else a method of a tensor
            case ast.Call(func=func) if not ctx.origin(func):
                part = func.value if isinstance(func, ast.Subscript) else func
                kind = instances.of(ctx, func)
                losses = kind is not None and all(n.startswith("torch.nn.") and n.endswith("Loss") for n in kind.names)
                if (called := ctx.name(part)) is not None and not losses:
                    yield called, node


def _other_modules(training: Training, scaler: Scaler, loss: ast.expr) -> Iterator[Obstacle]:
    """Beside a scaled loss: modules that make the raw one, and whose parameters the scaler is not seen to step."""
    ctx = training.ctx
    stepped = [given for step in scaler.steps if (given := optimizer(step)) is not None]
    made = [each.node for given in stepped for each in possible_values(ctx, given)[0]]
    held = {
        ctx.name(node.value)
        for value in made
        for node in own(value)
        if isinstance(node, ast.Attribute) and node.attr == "parameters"
    }
    for name, call in dict(_called(training, loss)).items() if scaler.backwards else ():
        if not any(h is not None and (name == h or name.startswith(f"{h}.")) for h in held):
            yield obstacle(ctx, call, f"`{name}` is not seen to be stepped by `{scaler.name}`", sure=False)


def _own_methods(training: Training, loss: ast.expr) -> Iterator[Obstacle]:
    """Methods of what makes the loss that are none of every module's: such a one may be a step."""
    ctx, modules = training.ctx, {name for name, _ in _called(training, loss)}
    for call in training.calls:
        match call.func:
            case ast.Attribute(value=owner, attr=name) if ctx.name(owner) in modules:
                if name not in MODULE_METHODS and callee(ctx, call) is None and stepped(ctx, call) is None:
                    yield obstacle(ctx, call, f"`{ctx.source(call.func)}` may be a step of its own", sure=False)
