"""An optimizer that steps inside an autocast region in which the same model runs again.

## Why is this bad?
Autocast casts each weight once and keeps the copy until the outermost region is left. A step (or a loaded state, or an
in-place copy) writes the weights, not the copies: every later forward pass in the region still runs the weights of
before. Nothing is raised. A training loop inside one `with torch.autocast(…)` repeats its first loss for ever; a GAN
whose generator loss goes through a discriminator that has just been stepped gets the gradients of the old one.

Every torch is affected, 2.15 included. Lightning runs the whole `training_step` in one region: under mixed precision
with Lightning before 2.5.5, manual optimization that steps one network and then runs it again is affected too; with any
Lightning where the step opens a region by an old name, `torch.cuda.amp.autocast`, which switches the cache on.

## Fix safety
Safe: `torch.clear_autocast_cache()` directly after the step makes the next pass cast the new weights. Losses and
weights equal, bit for bit, those of a region per step. Where no region is open the call does nothing.

Possible, and unsafe, where it cannot be told which weights the optimizer holds, and where something that is not in
sight may make it no bug: a context manager or decorator of the project, a flag or option of autocast that is set
elsewhere, code that empties the cache or switches autocast off while the function runs, and weights in low precision.

With the strategy `narrow-region` the region ends before the backward pass and opens again for the next forward pass,
which is how torch's own examples look. Unsafe: whatever else stood between the two no longer runs under autocast.

## When it is not offered
Where the region is left before the model runs again (a region inside the loop), where the optimizer is known to train
another model than the one that runs again, where Lightning's `toggle_optimizer` freezes that model for its second turn
(frozen weights are cast anew), where the cache is emptied already or the region keeps none, and where precision is not
mixed. Where a step is no statement of its own, or runs in compiled code, it is only reported. Possible where nothing in
sight is on the GPU that the region is for; unsafe where a step is given a closure.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.analysis.unfollowed import one_of_each_is_made
from codemods.flow.answers import Answer, question, unknown, unless
from codemods.frameworks.autocast.changes import WeightChange, change, is_alone, trainable, writes_these_weights
from codemods.frameworks.autocast.modules import (
    Path,
    has_weights,
    overlap,
    something_is_cast,
    weights_are_float32,
    written,
)
from codemods.frameworks.autocast.openings import DEPTH
from codemods.frameworks.autocast.passes import between, compiled, follows, rebound, stays_open
from codemods.frameworks.autocast.questions import nothing_interferes
from codemods.frameworks.autocast.regions import (
    SPEAKING,
    Region,
    around,
    beginnings,
    callers,
    keeps_by_hand,
    shared,
    whole,
)
from codemods.frameworks.autocast.uses import Use, forgets, outward, uses
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Remedy, Rule
from codemods.syntax.module import FUNCTIONS, own
from codemods.syntax.verbs import Verb, divide, insert_after

SITES = ("step", "load_state_dict", "copy_")
"""Steps of something else, states of something else, and copies in no loop over parameters are left out."""

rule = Rule(
    code="AMP010",
    name="step-inside-autocast",
    summary="the model runs again in the autocast region in which its weights were stepped, with the old weights",
    fix_title="Call `torch.clear_autocast_cache()` after the step",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    triggers=(SITES,),
    somewhere=SPEAKING,
    references=(
        "https://docs.pytorch.org/docs/stable/notes/amp_examples.html",
        "https://github.com/X-GenGroup/Flow-Factory/issues/186",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
    strategies=("clear-cache", "narrow-region"),
    bounds={"narrow-region": Safety.UNSAFE},
)


@dataclass(frozen=True, slots=True)
class Stale:
    """Weights that run again after they were written, and the region that keeps their old copies."""

    path: Path
    region: Region
    is_bug: tuple[Answer, ...]


@rule.on(ast.Call, ast.For)
def step(node: ast.Call | ast.For, ctx: PythonContext) -> Iterator[Draft]:
    written_here = change(ctx, node)
    if written_here is None or not beginnings(ctx) or keeps_by_hand(ctx) or around(ctx, node) is None:
        return
    stale = _stale(ctx, written_here, node, [], DEPTH)
    if stale is None or stale.region.precision == "none":
        return
    region, name = stale.region, written(stale.path)
    if isinstance(node, ast.Call):  # which of several has the weights that are cast (`two_optimizers`)
        stale = replace(stale, is_bug=(*stale.is_bug, one_of_each_is_made(ctx)))
    message = f"`{name}` runs again in the autocast region after `{written_here.what}`, with the weights of before"
    if region.precision in ("unknown", "chosen", "several"):
        mixed = unknown(ctx.evidence(node, "no line shows that the precision is mixed"))
        yield rule.finding(node, message=message, is_bug=[*stale.is_bug, mixed], bites=region.versions)
        return
    holder = ctx.statement(node)
    spelled = ctx.spell("torch.clear_autocast_cache", at=node)
    plain = isinstance(holder, (ast.Expr, ast.Assign, ast.For)) and not isinstance(ctx.scope(node), ast.Lambda)
    remedies: dict[str, Remedy] = {}
    if plain and spelled is not None and not compiled(ctx, node):
        clear = [insert_after(node, f"{spelled.code}()")]
        remedies["clear-cache"] = Remedy(clear, is_right=[nobody_else_writes(ctx, written_here)], needs=[spelled.need])
    if (narrowed := _narrowed(ctx, node, region)) is not None:
        title = "End the region before the backward pass"
        remedies["narrow-region"] = Remedy([narrowed], title, on_request=True)
    yield rule.offer(node, remedies, message=message, is_bug=stale.is_bug, bites=region.versions)


@question
def nobody_else_writes(ctx: PythonContext, written_here: WeightChange) -> Answer:
    """Whether no loop over parameters in another function copies into them: the cache is stale after it, too
    (`slow_weights`).
    """
    node = written_here.node
    if written_here.closure is not None:
        return unknown(ctx.evidence(written_here.closure, "the weights may be written several times in here"))
    return unless(
        each.evidence("this may write the weights as well")
        for each in mentions(ctx, "copy_")
        if each.ctx.function(each.node) is not ctx.function(node) and each.ctx.enclosing(each.node, ast.For) is not None
    )


def _stale(ctx: PythonContext, done: WeightChange, node: ast.AST, seen: Sequence[Path], depth: int) -> Stale | None:
    """Weights that run again after `node` wrote them, here or in a caller; `seen` ran before it, in a called one."""
    scope = ctx.scope(node)
    if not isinstance(scope, (*FUNCTIONS, ast.Module)):
        return None
    every = trainable(ctx, scope)
    forgotten = forgets(ctx, scope)
    cached = list(seen)
    for use in every:
        if use.node is not node and follows(ctx, use.node, node) and not between(ctx, use.node, forgotten, node):
            cached.append(use.path)
    for later in every:
        if not follows(ctx, node, later.node) or between(ctx, node, forgotten, later.node):
            continue
        if done.paths is None and not later.sure and not is_alone(ctx, node):
            continue  # neither is known, which weights are written nor that any run again
        matching = [path for path in cached if overlap(path, later.path) and done.may_write(path)]
        if not matching or not done.may_write(later.path) or rebound(ctx, node, later.path, later.node):
            continue
        region = shared(ctx, node, later.node)
        if region is None or not stays_open(ctx, region, node, later.node):
            continue
        if seen or any(_kept(ctx, region, use, node) for use in every if overlap(use.path, later.path)):
            at = later.node if isinstance(later.node, (ast.expr, ast.stmt)) else done.node
            assert isinstance(at, (ast.expr, ast.stmt))
            weights = (
                writes_these_weights(ctx, done, later.path),
                has_weights(ctx, later.sure, at, later.path),
                weights_are_float32(ctx, later.path),
                something_is_cast(ctx, at),
            )
            known = nothing_interferes(ctx, region, node, later.node, inside=later.doubts, asked=weights)
            return Stale(later.path, region, (*weights, *known))
    for where, call in callers(ctx, scope) if depth and isinstance(scope, FUNCTIONS) else ():
        assert isinstance(scope, FUNCTIONS)
        there = [path for p in cached if (path := outward(where, call, ctx, scope, p)) is not None]
        paths = done.paths and tuple(o for p in done.paths if (o := outward(where, call, ctx, scope, p)) is not None)
        if there or not seen:
            moved = WeightChange(call, done.what, paths, done.one_of_several)
            if found := _stale(where, moved, call, there, depth - 1):
                return found
    return None


def _kept(ctx: PythonContext, region: Region, use: Use, node: ast.AST) -> bool:
    """Whether a use puts copies into the cache of the region that are still there at `node`."""
    if not follows(ctx, use.node, node) or shared(ctx, use.node, node) != region:
        return False
    return stays_open(ctx, region, use.node, node)


# -- narrow-region


def _narrowed(ctx: PythonContext, node: ast.AST, region: Region) -> Verb | None:
    """The region around the forward passes only: split around the step, or moved into the loop that is its body."""
    holder = region.holder
    if not isinstance(holder, ast.With) or region.opening.call is None or holder not in ctx.ancestors(node):
        return None
    if len(holder.items) > 1 or holder.items[0].optional_vars or whole(ctx, ctx.scope(holder)):
        return None
    match holder.body:
        case [ast.For(body=body, orelse=[]) | ast.While(body=body, orelse=[])]:
            return _parts(ctx, holder, body, node)
    return _parts(ctx, holder, holder.body, node)


def _parts(ctx: PythonContext, holder: ast.With, statements: Sequence[ast.stmt], node: ast.AST) -> Verb | None:
    """Statements in and out of the region: out from the backward pass to the step and on to the next forward pass."""
    at = next((i for i, s in enumerate(statements) if ctx.module.contains(s, node)), None)
    if at is None:
        return None
    runs = [bool(uses(ctx, s)) for s in statements]
    start = at
    for i in range(at - 1, -1, -1):
        if runs[i]:
            break
        if any(ctx.loss_of(n) is not None for n in own(statements[i])):
            start = i
    end = next((i for i in range(at, len(statements)) if runs[i]), len(statements))
    if runs[at] or start == 0:
        return None
    return divide(holder, (True, statements[:start]), (False, statements[start:end]), (True, statements[end:]))
