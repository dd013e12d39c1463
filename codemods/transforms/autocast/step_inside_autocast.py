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

With the strategy `narrow-region` the region ends before the backward pass and opens again for the next forward pass,
which is how torch's own examples look. Unsafe: whatever else stood between the two no longer runs under autocast.

## When it is not offered
Where the region is left before the model runs again (a region inside the loop), where the optimizer is known to train
another model than the one that runs again, where Lightning's `toggle_optimizer` freezes that model for its second turn
(frozen weights are cast anew), where the cache is emptied already or the region keeps none, and where precision is not
mixed. Where a step is no statement of its own, or runs in compiled code, it is only reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods.frameworks.autocast.changes import Change, change, toggled_off
from codemods.frameworks.autocast.modules import Path, overlap, written
from codemods.frameworks.autocast.openings import DEPTH
from codemods.frameworks.autocast.passes import between, compiled, follows, rebound, stays_open
from codemods.frameworks.autocast.prefilter import Near
from codemods.frameworks.autocast.regions import Region, around, callers, shared, whole
from codemods.frameworks.autocast.uses import Use, forgets, outward, singles, uses
from codemods.model.edits import Consequence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow
from codemods.syntax.rewrite import Replacement, insert, with_body
from codemods.syntax.tree import text_of

SITES = ("step", "load_state_dict", "copy_")
"""Steps of something else, states of something else, and copies in no loop over parameters are left out."""

NEAR = Near(SITES, suspected=False)

rule = Rule(
    code="AMP010",
    name="step-inside-autocast",
    summary="the model runs again in the autocast region in which its weights were stepped, with the old weights",
    fix_title="Call `torch.clear_autocast_cache()` after the step",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    triggers=(SITES,),
    together=(SITES,),
    concerns=NEAR,
    references=(
        "https://docs.pytorch.org/docs/stable/notes/amp_examples.html",
        "https://github.com/X-GenGroup/Flow-Factory/issues/186",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
    strategies=("clear-cache", "narrow-region"),
)


@dataclass(frozen=True, slots=True)
class Stale:
    """Weights that run again after they were written, and the region that keeps their old copies."""

    path: Path
    region: Region


@rule.on(cst.Call, cst.For)
def step(node: cst.CSTNode, ctx: Context) -> Iterator[Draft]:
    if not NEAR.function(node, ctx):
        return
    written_here = change(ctx, node)
    if written_here is None or "set_autocast_cache_enabled" in ctx.text or around(ctx, node) is None:
        return
    stale = _stale(ctx, written_here, node, [], DEPTH)
    if stale is None or stale.region.precision == "none":
        return
    region, name = stale.region, written(stale.path)
    message = f"`{name}` runs again in the autocast region after `{written_here.what}`, with the weights of before"
    if region.precision in ("unknown", "chosen"):
        yield rule.finding(node, message=f"{message}, if precision is mixed", bites=region.versions)
        return
    holder = ctx.statement(node)
    spelled = ctx.spell("torch.clear_autocast_cache", at=node)
    plain = isinstance(holder, (cst.Expr, cst.Assign, cst.For)) and not isinstance(ctx.scope(node), cst.Lambda)
    fixes: dict[str, dict[cst.CSTNode, Replacement]] = {}
    if plain and spelled is not None and not compiled(ctx, node):
        fixes["clear-cache"] = insert(ctx, node, [f"{text_of(spelled.node)}()"], after=True)
    if narrowed := _narrowed(ctx, node, region):
        fixes["narrow-region"] = narrowed
    strategy = ctx.strategies.get(rule.code, rule.strategies[0])  # nothing else is right without being asked for
    if strategy not in fixes:
        yield rule.finding(node, message=message, strategies=list(fixes), bites=region.versions)
        return
    clears = strategy == "clear-cache"
    yield rule.finding(
        node,
        fix=fixes[strategy],
        message=message,
        title=None if clears else "End the region before the backward pass",
        safety=Safety.SAFE if clears else Safety.UNSAFE,
        strategy=strategy,
        strategies=list(fixes),
        needs=[spelled.need if spelled else None] if clears else [],
        bites=region.versions,
    )


def _stale(ctx: Context, done: Change, node: cst.CSTNode, seen: Sequence[Path], depth: int) -> Stale | None:
    """Weights that run again after `node` wrote them, here or in a caller; `seen` ran before it, in a called one."""
    scope = ctx.scope(node)
    if not isinstance(scope, (cst.FunctionDef, cst.Module)):
        return None
    root = scope.body if isinstance(scope, cst.FunctionDef) else scope
    every = [use for use in uses(ctx, root) if not toggled_off(ctx, use.node, use.path)]
    forgotten = forgets(ctx, root)
    cached = list(seen)
    for use in every:
        if use.node is not node and follows(ctx, use.node, node) and not between(ctx, use.node, forgotten, node):
            cached.append(use.path)
    for later in every:
        if not follows(ctx, node, later.node) or between(ctx, node, forgotten, later.node):
            continue
        matching = [path for path in cached if overlap(path, later.path) and done.may_write(path)]
        if not matching or not done.may_write(later.path) or rebound(ctx, scope, Use(later.path, node, False), later):
            continue
        region = shared(ctx, node, later.node)
        if region is None or not stays_open(ctx, region, node, later.node):
            continue
        if seen or any(_kept(ctx, region, use, node) for use in every if overlap(use.path, later.path)):
            return Stale(later.path, region)
    for where, call in callers(ctx, scope) if depth and isinstance(scope, cst.FunctionDef) else ():
        assert isinstance(scope, cst.FunctionDef)
        there = [path for p in cached if (path := outward(where, call, ctx, scope, p)) is not None]
        paths = done.paths and tuple(o for p in done.paths if (o := outward(where, call, ctx, scope, p)) is not None)
        if there or not seen:
            moved = Change(done.node, done.what, paths, done.words)
            if found := _stale(where, moved, call, there, depth - 1):
                return found
    return None


def _kept(ctx: Context, region: Region, use: Use, node: cst.CSTNode) -> bool:
    """Whether a use puts copies into the cache of the region that are still there at `node`."""
    if not follows(ctx, use.node, node) or shared(ctx, use.node, node) != region:
        return False
    return stays_open(ctx, region, use.node, node)


# -- narrow-region


def _narrowed(ctx: Context, node: cst.CSTNode, region: Region) -> dict[cst.CSTNode, Replacement] | None:
    """The region around the forward passes only: split around the step, or moved into the loop that is its body."""
    holder = region.holder
    if not isinstance(holder, cst.With) or region.opening.call is None or holder not in ctx.ancestors(node):
        return None
    if len(holder.items) > 1 or holder.items[0].asname or whole(ctx, ctx.scope(holder)):
        return None
    match holder.body.body:
        case [cst.For() | cst.While() as loop] if loop.orelse is None:
            parts = _parts(ctx, holder, loop.body, node)
            lead = [*holder.leading_lines, *loop.leading_lines]
            whole_loop = parts and loop.with_changes(body=with_body(loop.body, parts), leading_lines=lead)
            return {holder: whole_loop} if whole_loop else None
        case _:
            parts = _parts(ctx, holder, holder.body, node)
            if parts is None:
                return None
            return {holder: [parts[0].with_changes(leading_lines=holder.leading_lines), *parts[1:]]}


def _parts(ctx: Context, holder: cst.With, suite: cst.BaseSuite, node: cst.CSTNode) -> list[cst.CSTNode] | None:
    """Statements in and out of the region: out from the backward pass to the step and on to the next forward pass."""
    statements: list[cst.CSTNode] = list(singles(suite.body))
    line = [node, *ctx.ancestors(node)]
    at = next((i for i, s in enumerate(statements) if s in line), None)
    if at is None:
        return None
    runs = [bool(uses(ctx, s)) for s in statements]
    start = at
    for i in range(at - 1, -1, -1):
        if runs[i]:
            break
        if any(ctx.loss_of(n) is not None for n in flow.own(statements[i])):
            start = i
    end = next((i for i in range(at, len(statements)) if runs[i]), len(statements))
    if runs[at] or start == 0:
        return None
    lines = [_line(ctx, s) for s in statements]

    def inside(some: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
        body = cst.IndentedBlock(body=list(some))  # type: ignore[arg-type]
        return [holder.with_changes(body=body, leading_lines=())] if some else []

    return [*inside(lines[:start]), *lines[start:end], *inside(lines[end:])]


def _line(ctx: Context, statement: cst.CSTNode) -> cst.CSTNode:
    """A statement on a line of its own; the first of a line keeps what stands above, the last what stands behind."""
    line = ctx.parent(statement)
    if not isinstance(statement, cst.BaseSmallStatement):
        return statement
    alone = cst.SimpleStatementLine([statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
    if isinstance(line, cst.SimpleStatementLine) and statement is line.body[0]:
        alone = alone.with_changes(leading_lines=line.leading_lines)
    if isinstance(line, cst.SimpleStatementLine) and statement is line.body[-1]:
        alone = alone.with_changes(trailing_whitespace=line.trailing_whitespace)
    return alone
