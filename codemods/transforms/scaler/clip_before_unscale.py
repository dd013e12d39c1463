"""Gradients are clipped while the scaler's factor is still in them.

Between `scaler.scale(loss).backward()` and `scaler.step(optimizer)` every gradient is multiplied by the loss scale
(65,536 to begin with). A clip that runs in between measures and shortens these numbers, not the gradients.

## Why is this bad?
Nothing is raised. `clip_grad_norm_(parameters, 1.0)` sees a norm tens of thousands of times too large, scales all
gradients down to a norm of 1, and `scaler.step` then divides by the scale once more: the update all but vanishes, and
what is left of it changes whenever the scale does. Logged norms are wrong by the same factor. In every version of
torch that has a `GradScaler`, up to 2.15.

`scaler.unscale_(optimizer)` divides the gradients first; `scaler.step` notices and does not divide again.

## Fix safety
Safe: `scaler.unscale_(optimizer)` is inserted directly before the first clip, for every optimizer that the scaler steps
after it. A disabled scaler ignores the call. Training changes, and that is the point: with the intended clip the
steps are as large as asked for, so a learning rate that was tuned around the bug may need another look.

Where scaling and stepping stand under the same condition (`if use_amp:`) and the clip does not, the inserted call
stands under that condition, too.

Unsafe where the scaler comes from outside and no annotation, constructor or caller in sight says that it is a
`GradScaler` (other classes of scalers may have no `unscale_`), and where a handler, a hook or a context manager may
unscale already: a second `unscale_` before `update()` raises.

## When it is not offered
Only reported: where a caller gives a scaler of another class; where the clip runs more often than the step (on every
micro-step of an accumulation; a second `unscale_` before `update()` raises `unscale_() has already been called on this
optimizer since the last update().`), where the step can be skipped after the clip by `continue`, `break` or `return`
(same message one iteration later), where the receiver is only half known to be a `GradScaler`, and where it cannot be
told which optimizer is stepped.

Silent where `unscale_` is called before, here or in a function called in between, where the code divides by
`get_scale()` or writes to `.grad` itself, where the bound of the clip or what becomes of the norm knows of the scale
(`clip_grad_norm_(p, 0.5 * scale)`, `norm / scaler.get_scale()`), and where a backward without scaling may have made the
gradients.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import replace

from codemods.analysis.calls import values
from codemods.analysis.grad_scaler import Scaler, given_optimizer, spelled
from codemods.analysis.instances import callee
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS
from codemods.analysis.scaled_training import CLIP, UNSCALING, Training, made_of, trainings, writes
from codemods.analysis.scaler_lifetime import is_gradient_scaler, unscaled_elsewhere, used_anywhere
from codemods.model.edits import Consequence, Evidence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import LOOPS, TRIES, own
from codemods.syntax.verbs import Verb, delete, insert_before

rule = Rule(
    code="SCL001",
    name="clip-before-unscale",
    summary="gradients are clipped while they are still multiplied by the loss scale",
    fix_title="Unscale the gradients before the clip",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    triggers=(("step",), ("GradScaler", "scaler", "scale", "unscale_")),
    references=("https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping",),
)


@rule.on(ast.Module)
def clip_before_unscale(_: ast.Module, ctx: PythonContext) -> Iterator[Draft]:
    for training in trainings(ctx):
        for scaler in training.scalers:
            if not scaler.disabled:
                yield from scaled_clips(training, scaler)


def clips_after(training: Training, scaler: Scaler, backward: ast.Call) -> tuple[list[Verb], Safety] | None:
    """What has to be done about clips once a backward without scaling is scaled; None: it cannot be done."""
    now = replace(scaler, sure=True, backwards=(*scaler.backwards, backward))
    then = replace(training, scalers=(now,), raw=tuple(r for r in training.raw if r is not backward))
    fix: list[Verb] = []
    safety = Safety.SAFE
    for draft in scaled_clips(then, now):
        if draft.remedy is None:
            return None
        fix += draft.remedy.verbs
        safety = min(safety, rule.safety if draft.remedy.safety is None else draft.remedy.safety)
    return fix, safety


def clips(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call clips gradients: one of torch's or timm's functions, or one of the project's that does."""
    if ctx.means(call.func, CLIP):
        return True
    name = (ctx.name(call.func) or "").rpartition(".")[2]
    if "clip" not in name or (target := ctx.callee(call)) is None:
        return False
    where, function = target
    if "grad" in name and any(isinstance(n, ast.Attribute) and writes(where, n) for n in own(function)):
        return True
    return any(isinstance(n, ast.Call) and where.means(n.func, CLIP) for n in own(function))


def scaled_clips(training: Training, scaler: Scaler) -> Iterator[Draft]:
    """The clips that see gradients which this scaler has scaled."""
    if training.hides("unscale_"):
        return
    groups: dict[tuple[ast.Call, ...], list[ast.Call]] = {}
    for clip in training.calls:
        if clips(training.ctx, clip) and (steps := _steps_after(training, scaler, clip)):
            groups.setdefault(steps, []).append(clip)
    for steps, group in groups.items():
        wrong = [c for c in group if _is_scaled(training, scaler, c, steps)]
        for number, clip in enumerate(wrong):
            if all(training.exclusive(clip, earlier) for earlier in wrong[:number]):
                later = [c for c in wrong[number + 1 :] if not training.exclusive(clip, c)]
                yield _draft(training, scaler, clip, later, steps)


def _steps_after(training: Training, scaler: Scaler, clip: ast.Call) -> tuple[ast.Call, ...]:
    """The steps for which a clip prepares: those after it, up to the next scaled backward."""
    ctx = training.ctx
    found: list[ast.Call] = []
    later = [b for b in scaler.backwards if training.before(clip, b)]
    for step in scaler.steps:
        if not training.reaches(clip, step) or any(training.before(b, step) for b in later):
            continue
        given = given_optimizer(ctx, step)
        if not any(training.before(s, step) and given_optimizer(ctx, s) == given for s in found):
            found.append(step)
    return tuple(found)


def _is_scaled(training: Training, scaler: Scaler, clip: ast.Call, steps: tuple[ast.Call, ...]) -> bool:
    """Whether the gradients still hold the scale when `clip` sees them."""
    ctx = training.ctx
    backwards = [b for b in scaler.backwards if training.reaches(b, clip)]
    if not backwards and (scaler.backwards or used_anywhere(ctx, *UNSCALING)):
        return False  # scaled elsewhere is scaled for sure only where nobody unscales
    if any(training.before(r, clip) and not _beside(training, r, scaler.backwards) for r in training.raw):
        return False
    if training.may_mention(clip, scaler.name, UNSCALING):
        return False
    if any(_knows_the_scale(training, scaler, v) for v in values(clip)) or _is_divided(training, scaler, clip):
        return False
    mine = {given_optimizer(ctx, s) for s in steps}
    others = {given_optimizer(ctx, s) for s in scaler.steps} - mine
    for unscale in training.unscales:
        given = given_optimizer(ctx, unscale)
        if training.exclusive(unscale, clip) or (given is not None and given in others):
            continue
        if not training.before(unscale, clip):
            continue
        stepped = [s for s in scaler.steps if training.before(unscale, s) and training.before(s, clip)]
        if not any(given_optimizer(ctx, s) == given for s in stepped):
            return False
    return not any(training.touched(scaler, b, clip) for b in backwards)


def _knows_the_scale(training: Training, scaler: Scaler, value: ast.expr) -> bool:
    """Whether a value is made with the loss scale: `0.5 * s` after `s = scaler.get_scale()`."""
    return made_of(training.ctx, training.scope, value, f"{scaler.name}.get_scale", f"{scaler.name}._scale")


def _is_divided(training: Training, scaler: Scaler, clip: ast.Call) -> bool:
    """Whether the norm that a clip returns is divided by the loss scale: who does that knows that it is in there."""
    ctx = training.ctx
    statement = ctx.statement(clip)
    names = [ctx.name(target) for target in statement.targets] if isinstance(statement, ast.Assign) else []
    for left, right in training.factors:
        if any(part is clip or (names and ctx.name(part) in names) for part in (left, *own(left))):
            if _knows_the_scale(training, scaler, right):
                return True
    return False


def _beside(training: Training, raw: ast.Call, backwards: tuple[ast.Call, ...]) -> bool:
    """Whether a backward without scaling is the other arm of one with it (`if use_amp: … else: loss.backward()`)."""
    return any(training.contrary(raw, b) for b in backwards)


def _draft(
    training: Training, scaler: Scaler, clip: ast.Call, later: list[ast.Call], steps: tuple[ast.Call, ...]
) -> Draft:
    ctx = training.ctx
    written = (ctx.name(clip.func) or "the clip").rpartition(".")[2]
    names = list(dict.fromkeys(given_optimizer(ctx, s) or "" for s in steps))
    wanted = " and ".join(f"`{scaler.name}.unscale_({name or 'optimizer'})`" for name in names)
    message = f"`{written}` sees gradients that are still multiplied by the loss scale: {wanted} must run before it"
    if not scaler.sure:
        about = f"if `{scaler.name}` is a GradScaler, `{written}` sees scaled gradients"
        return rule.finding(clip, message=f"{about}: {wanted} must run before it")
    fix, obstacle = _fix(training, scaler, clip, later, steps, names)
    if fix is None:
        return rule.finding(clip, message=f"{message} ({obstacle})")
    known, other = is_gradient_scaler(training, scaler)
    if known is False and other is not None:
        message = f"{message}; but {other.why}, which may have no `unscale_`"
        return rule.finding(clip, message=message, evidence=[other])
    if known is None:
        message = f"{message}, if `{scaler.name}` has an `unscale_`: its class is not in sight"
        return rule.finding(clip, fix=fix, message=message, safety=Safety.UNSAFE)
    if elsewhere := unscaled_elsewhere(training, scaler) or _managed(training, scaler, clip):
        message = f"{message}, unless {elsewhere.why}"
        return rule.finding(clip, fix=fix, message=message, safety=Safety.UNSAFE, evidence=[elsewhere])
    return rule.finding(clip, fix=fix, message=message)


def _is_builtin(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call is one of Python's own functions: `open(…)`."""
    name = ctx.name(call.func) or ""
    return hasattr(builtins, name) and name not in ctx.facts.rebound and not any(ctx.facts.named(name))


def _managed(training: Training, scaler: Scaler, clip: ast.Call) -> Evidence | None:
    """A context manager around the clip that nobody can look into, entered after the backward."""
    ctx = training.ctx
    for manager in ctx.regions(clip):
        if isinstance(manager.holder, WITHS) and not any(training.inside(b, manager.holder) for b in scaler.backwards):
            call = manager.entered if isinstance(manager.entered, ast.Call) else None
            seen = call is not None and (_is_builtin(ctx, call) or callee(ctx, call) is not None)
            if not seen and not ctx.origin(manager.maker):
                return ctx.evidence(manager.entered, f"`{ctx.source(manager.entered)}` unscales")
    return None


def _fix(
    training: Training,
    scaler: Scaler,
    clip: ast.Call,
    later: list[ast.Call],
    steps: tuple[ast.Call, ...],
    names: list[str],
) -> tuple[list[Verb] | None, str]:
    """The statements inserted before the clip, or what stands in the way."""
    if not all(names):
        return None, "which optimizer is stepped cannot be told"
    if not all(training.always(s) for s in steps):
        return None, "the step stands under a condition"
    home = training.block(steps[0])
    loop = home[0]
    if isinstance(loop, ast.For) and home[1] == "body" and training.conditions(clip, home) is None:
        return _before_loop(training, scaler, clip, steps, loop)
    if any(training.block(s) != home for s in steps):
        return None, "the optimizers are not stepped together"
    around = training.conditions(clip, home)
    if around is None:
        return _under_condition(training, scaler, clip, steps, names)
    if any(isinstance(a, TRIES) for a in around):
        return None, "the step can be skipped after it"
    anchor: ast.AST = clip
    lifted = [a for a in around if isinstance(a, LOOPS)]
    apart = [a for a in around if any(not training.inside(c, a) for c in later)]
    if lifted or apart:
        anchor = max(lifted[-1:] + apart[-1:], key=around.index)
        if any(training.inside(b, anchor) for b in scaler.backwards) or _is_elif(training.ctx, anchor):
            return None, "it runs more often than the step"
    if obstacle := _between(training, anchor, steps, names):
        return None, obstacle
    return _moved(training, scaler, anchor, steps, _calls(scaler, names))


def _between(training: Training, anchor: ast.AST, steps: tuple[ast.Call, ...], names: list[str]) -> str:
    """What stands between the clip and the steps that forbids to unscale early."""
    ctx = training.ctx
    holder = ctx.statement(anchor)
    if holder is not anchor and hasattr(holder, "body"):
        if not isinstance(holder, ast.If) or _is_elif(ctx, holder):
            return "it stands in the head of a block"
    for node in training.leaves:
        updated = any(training.block(u) == training.block(node) for s in training.scalers for u in s.updates)
        if not updated and training.before(anchor, node) and any(training.before(node, s) for s in steps):
            return "the step can be skipped after it"
    for name in names:
        for binding in ctx.bindings(training.scope).get(name, ()):
            if training.before(anchor, binding.node) and any(training.before(binding.node, s) for s in steps):
                return f"`{name}` is set only after it"
    return ""


def _is_elif(ctx: PythonContext, node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ctx.source(node).startswith("elif")


def _moved(
    training: Training, scaler: Scaler, anchor: ast.AST, steps: tuple[ast.Call, ...], code: list[str]
) -> tuple[list[Verb] | None, str]:
    """Insert the calls; one that stands too late already is taken away."""
    fix: list[Verb] = [insert_before(anchor, *code)]
    for unscale in scaler.unscales:
        if training.before(anchor, unscale) and any(training.before(unscale, s) for s in steps):
            alone = isinstance(training.ctx.parent(unscale), ast.Expr)
            if not alone or training.block(unscale) != training.block(steps[0]):
                return None, f"`{scaler.name}.unscale_` runs only after it"
            fix.append(delete(unscale))
    return fix, ""


def _before_loop(
    training: Training, scaler: Scaler, clip: ast.Call, steps: tuple[ast.Call, ...], loop: ast.For
) -> tuple[list[Verb] | None, str]:
    """For `for optimizer in optimizers: scaler.step(optimizer)`: the same loop, unscaling, before the clip."""
    ctx = training.ctx
    target, items = ctx.name(loop.target), spelled(ctx, loop.iter)
    given = given_optimizer(ctx, steps[0])
    around = training.conditions(clip, training.block(loop))
    if len(steps) != 1 or given is None or given != target or items is None or around != []:
        return None, "which optimizer is stepped cannot be told"
    if obstacle := _between(training, clip, steps, [items]):
        return None, obstacle
    return [insert_before(clip, f"for {target} in {items}:\n    {scaler.name}.unscale_({given})\n")], ""


def _under_condition(
    training: Training, scaler: Scaler, clip: ast.Call, steps: tuple[ast.Call, ...], names: list[str]
) -> tuple[list[Verb] | None, str]:
    """For steps under `if use_amp:`, as the backward is, and a clip under none: the call under the same condition."""
    ctx = training.ctx
    elsewhere = "it does not stand under the condition of the step"
    gate, arm = training.block(steps[0])
    if not isinstance(gate, ast.If) or arm != "body" or _is_elif(ctx, gate):
        return None, elsewhere
    if any(isinstance(n, (ast.Call, ast.Await, ast.NamedExpr)) for n in ast.walk(gate.test)):
        return None, elsewhere
    tested = [name for n in ast.walk(gate.test) if (name := ctx.name(n))]
    obstacle = _between(training, clip, steps, [*names, *tested])
    around = training.conditions(clip, training.block(gate))
    if around and len(around) == 1 and _is_gate(around[0], gate) and training.block(clip) == (around[0], "body"):
        return (None, obstacle) if obstacle else ([insert_before(clip, *_calls(scaler, names))], "")
    scalings = (training.scaling(scaler, b) for b in scaler.backwards if training.reaches(b, clip))
    gates = [training.block(s) for s in scalings]
    if around != [] or not gates or not all(_is_gate(g, gate) and field == "body" for g, field in gates):
        return None, elsewhere
    if obstacle:
        return None, obstacle
    body = "".join(f"    {call}\n" for call in _calls(scaler, names))
    return [insert_before(clip, f"if {ctx.source(gate.test)}:\n{body}")], ""


def _is_gate(node: ast.AST, gate: ast.If) -> bool:
    return isinstance(node, ast.If) and ast.dump(node.test) == ast.dump(gate.test)


def _calls(scaler: Scaler, names: list[str]) -> list[str]:
    return [f"{scaler.name}.unscale_({name})" for name in names]
