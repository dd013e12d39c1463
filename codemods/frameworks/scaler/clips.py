"""Clips that see scaled gradients, and where `unscale_` goes: as a function is, or with a further scaled backward."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codemods.analysis.calls import argument, keyword, literal, values
from codemods.analysis.grad_scaler import Scaler, given_optimizer, spelled
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.gradient_watchers import no_other_code_reads_gradients
from codemods.analysis.instances import callee
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS
from codemods.analysis.scaled_training import CLIP, UNSCALING, Training, made_of, writes
from codemods.analysis.scaler_lifetime import used_anywhere
from codemods.analysis.sources import sources
from codemods.flow.answers import Answer
from codemods.frameworks.scaler.questions import (
    bound_is_plain,
    gradients_come_from_here,
    has_every_method,
    is_scaler,
    managers_are_known,
    nothing_else_steps,
    nothing_else_unscales,
    nothing_replaces_gradients,
    optimizers_hold_what_is_clipped,
    step_follows,
    unscaled_before_is_another,
)
from codemods.model.edits import Evidence
from codemods.model.names import FSDP
from codemods.syntax.module import LOOPS, TRIES, own
from codemods.syntax.verbs import Verb, delete, insert_before

_WITH_NORM = frozenset({"torch.nn.utils.clip_grads_with_norm_", "torch.nn.utils.clip_grad.clip_grads_with_norm_"})
_MEASURING = frozenset({"torch.nn.utils.get_total_norm", "torch.nn.utils.clip_grad.get_total_norm"})
_WORKING = frozenset({"backward", "step", "unscale_", "scale", "update"})
_MEASURES = frozenset({"norm", "vector_norm", "_foreach_norm", "clamp", "clamp_", "clip", "clip_", "square", "abs"})
"""What who clips gradients by hand asks of them; who only multiplies them takes the scale out."""


@dataclass(frozen=True, slots=True)
class ScaledClip:
    """Clips for the same steps that see gradients which a scaler has scaled."""

    clip: ast.Call
    """The first of them."""
    optimizers: tuple[str, ...]
    """What has to be unscaled, as it is written; empty text where that cannot be told."""
    fix: tuple[Verb, ...] | None
    obstacle: str
    """Why there is no fix."""
    is_bug: tuple[Answer, ...]
    is_right: tuple[Answer, ...]

    def calls(self, scaler: Scaler) -> str:
        """What must run before the clip, for a message."""
        return " and ".join(f"`{scaler.name}.unscale_({name or 'optimizer'})`" for name in self.optimizers)


def clips_after(training: Training, scaler: Scaler, backward: ast.Call) -> tuple[list[Verb], list[Answer]] | None:
    """What has to be done about clips once a backward without scaling is scaled, and what that rests on.

    Returns:
        None where it cannot be done.
    """
    now = replace(scaler, sure=True, backwards=(*scaler.backwards, backward))
    then = replace(training, scalers=(now,), raw=tuple(r for r in training.raw if r is not backward))
    fix: list[Verb] = []
    answers: list[Answer] = []
    for each in scaled_clips(then, now):
        if each.fix is None:
            return None
        fix += each.fix
        answers += (*each.is_bug, *each.is_right)
    return fix, answers


def clips(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call clips gradients: one of torch's or timm's functions, or one of the project's that only clips."""
    if ctx.means(call.func, CLIP) or _is_of_fsdp(ctx, call.func):
        return True
    if (target := ctx.callee(call)) is None:
        return False
    where, function = target
    nodes = [*own(function)]
    if any(isinstance(n, ast.Attribute) and n.attr in _WORKING for n in nodes):
        return False  # it does more: it differentiates, steps or unscales
    if any(isinstance(n, ast.Call) and where.means(n.func, CLIP) for n in nodes):
        return True
    attributes = [n for n in nodes if isinstance(n, ast.Attribute)]
    return any(n.attr in _MEASURES for n in attributes) and any(writes(where, n) for n in attributes)


def _is_of_fsdp(ctx: PythonContext, function: ast.expr) -> bool:
    """`model.clip_grad_norm_` of a model that FSDP shards, whose norm is one of all ranks."""
    return isinstance(function, ast.Attribute) and function.attr == "clip_grad_norm_" and ctx.is_a(function.value, FSDP)


def measures_for(training: Training, clip: ast.Call) -> Iterator[ast.Call]:
    """The calls that measure the norm by which `clip_grads_with_norm_` shortens."""
    ctx = training.ctx
    if not ctx.means(clip.func, _WITH_NORM) or (norm := argument(clip, "total_norm", 2)) is None:
        return
    for node in sources(ctx, training.scope, norm):
        if isinstance(node, ast.Call) and ctx.means(node.func, _MEASURING):
            yield node


def scaled_clips(training: Training, scaler: Scaler) -> Iterator[ScaledClip]:
    """The clips that see gradients which this scaler has scaled."""
    if training.hides("unscale_"):
        return
    groups: dict[tuple[ast.Call, ...], list[ast.Call]] = {}
    for clip in training.calls:
        if clips(training.ctx, clip) and (steps := _steps_after(training, scaler, clip)):
            groups.setdefault(steps, []).extend((*measures_for(training, clip), clip))
    for steps, group in groups.items():
        wrong = [c for c in group if _is_scaled(training, scaler, c, steps)]
        for number, clip in enumerate(wrong):
            if all(training.exclusive(clip, earlier) for earlier in wrong[:number]):
                later = [c for c in wrong[number + 1 :] if not training.exclusive(clip, c)]
                yield _scaled_clip(training, scaler, clip, later, steps)


def _steps_after(training: Training, scaler: Scaler, clip: ast.Call) -> tuple[ast.Call, ...]:
    """The steps for which a clip prepares: those after it, up to the next scaled backward, or the next update.

    An update forgets what was unscaled before it, and divides the gradients of a later step once more.
    """
    ctx = training.ctx
    found: list[ast.Call] = []
    later = [b for b in scaler.backwards if training.before(clip, b)]
    updates = [u for u in scaler.updates if training.reaches(clip, u)]
    for step in scaler.steps:
        if not training.reaches(clip, step) or any(training.before(b, step) for b in later):
            continue
        if any(training.reaches(u, step) for u in updates):
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


def _scaled_clip(
    training: Training, scaler: Scaler, clip: ast.Call, later: list[ast.Call], steps: tuple[ast.Call, ...]
) -> ScaledClip:
    names = tuple(dict.fromkeys(given_optimizer(training.ctx, s) or "" for s in steps))
    fix, obstacle = _fix(training, scaler, clip, later, steps, list(names))
    bug = (
        is_scaler(training, scaler),
        nothing_else_unscales(training, scaler, clip),
        gradients_come_from_here(training),
        nothing_replaces_gradients(training),
        optimizers_hold_what_is_clipped(training, clip, steps),
        unscaled_before_is_another(training, clip, steps),
        managers_are_known(_managers(training, scaler, clip)),
        *(bound_is_plain(where, each) for where, each in _library_clips(training.ctx, clip)),
    )
    code = ReachedCode([(training.ctx, training.scope)])
    right = (
        has_every_method(training, scaler),
        nothing_else_steps(training, scaler),
        no_other_code_reads_gradients(training.ctx, code, training.looks_at, looked_at(training)),
        step_follows(training, clip, steps),
    )
    return ScaledClip(clip, names, tuple(fix) if fix is not None else None, obstacle, bug, right)


def _library_clips(ctx: PythonContext, clip: ast.Call) -> list[tuple[PythonContext, ast.Call]]:
    """A clip, or those in the function of the project that it calls (`infinite_default`)."""
    target = None if ctx.means(clip.func, CLIP) else ctx.callee(clip)
    if target is None:
        return [(ctx, clip)]
    where, function = target
    return [(where, node) for node in own(function) if isinstance(node, ast.Call) and where.means(node.func, CLIP)]


def looked_at(training: Training) -> list[ast.AST]:
    """The nodes of the function, and those of the functions of the project that clip for it."""
    ctx = training.ctx
    called = [target for call in training.calls if clips(ctx, call) and (target := ctx.callee(call)) is not None]
    return [*training.nodes, *(node for _, node in ReachedCode(called).nodes)]


def _is_builtin(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call is one of Python's own functions: `open(…)`."""
    name = ctx.name(call.func) or ""
    return hasattr(builtins, name) and name not in ctx.facts.rebound and not any(ctx.facts.named(name))


def _managers(training: Training, scaler: Scaler, clip: ast.Call) -> Iterator[Evidence]:
    """The context managers around the clip that nobody can look into, entered after the backward."""
    ctx = training.ctx
    for manager in ctx.regions(clip):
        if isinstance(manager.holder, WITHS) and not any(training.inside(b, manager.holder) for b in scaler.backwards):
            call = manager.entered if isinstance(manager.entered, ast.Call) else None
            seen = call is not None and (_is_builtin(ctx, call) or _is_followed(ctx, call))
            if not seen and not ctx.origin(manager.maker):
                yield ctx.evidence(manager.entered, f"`{ctx.written(manager.entered)}` may unscale")


def _is_followed(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a call runs a generator of the project, all of which can be looked into."""
    target = callee(ctx, call)
    return target is not None and any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own(target[1]))


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
    if any(isinstance(a, TRIES) for a in around) or _may_raise(training, clip):
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
    return _moved(training, scaler, anchor, steps, names)


def _may_raise(training: Training, clip: ast.Call) -> bool:
    """Whether a clip raises for infinite gradients, and a handler goes on: the next `unscale_` would raise."""
    given = keyword(clip, "error_if_nonfinite")
    if given is None or literal(given) is False:
        return False
    return any(isinstance(a, TRIES) and a.handlers for a in training.ctx.ancestors(clip))  # type: ignore[attr-defined]


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
    training: Training, scaler: Scaler, anchor: ast.AST, steps: tuple[ast.Call, ...], names: list[str]
) -> tuple[list[Verb] | None, str]:
    """Insert the calls; one that stands too late already is taken away."""
    fix: list[Verb] = [insert_before(anchor, *_calls(scaler, names))]
    for unscale in scaler.unscales:
        if training.before(anchor, unscale) and any(training.before(unscale, s) for s in steps):
            given = given_optimizer(training.ctx, unscale)
            if (
                given is not None
                and given not in names
                and given in {given_optimizer(training.ctx, s) for s in scaler.steps}
            ):
                continue
            alone = given in names and isinstance(training.ctx.parent(unscale), ast.Expr)
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
    if any(training.inside(u, loop) for u in scaler.updates):
        return None, "the scaler is updated between the steps"
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
