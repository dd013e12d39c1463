"""A module that runs under `torch.no_grad()` before it is trained in the same autocast region.

## Why is this bad?
Autocast keeps the low-precision copy of every weight until the outermost region is left. A copy that was made under
`no_grad` (or `inference_mode`, or `set_grad_enabled(False)`) carries no gradient, and the forward pass that follows
takes it from the cache: the graph is cut at every such weight. If nothing else in the loss needs a gradient, the
backward pass says so:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

Otherwise nothing is raised, and the weights concerned are never trained: only a submodule was used without gradients,
or the network ends in a layer that autocast leaves alone, or a generator hangs on the discriminator.

Every torch before 2.11 is affected, in plain PyTorch and, because Lightning runs the whole `training_step` in one
region, in every LightningModule under mixed precision with Lightning before 2.5.5 — with automatic optimization too.
Entering autocast once more around the second pass changes nothing: the cache belongs to the outermost region.
Inside such a step, `torch.autocast` keeps to what Lightning has set; `torch.cuda.amp.autocast` switches the cache on,
whatever the version of Lightning.

## Fix safety
Safe: `torch.clear_autocast_cache()` as the last thing the block does makes the next pass cast its weights again. Where
no region is open it does nothing. Losses and gradients equal, bit for bit, those of a region per pass.

Other strategies:

- `inner-nocache`: the block gets an autocast context of its own that keeps nothing. Torch 2.4 where the region is
  Lightning's.
- `separate-regions`: the region is closed after the block and opened again (where it is a plain `with`, in no other).
- `hoist`: the block moves in front of the region. Unsafe: it then runs in full precision.
- `disable-autocast`: autocast is off in the block. Unsafe: results become float32, and an input that is already in
  low precision raises `mat1 and mat2 must have the same dtype`, on every version of torch.

## When it is not offered
Where the pass with gradients comes first (the cached copies then carry gradients), where the two passes run different
modules, where weights are frozen (by Lightning's `toggle_optimizer`, for one) or already in low precision, where the
region keeps no cache, and in functions that evaluate. In code that is compiled or scripted, which refuses the call
(`torch.compile(fullgraph=True)`, TorchScript), where no region is in sight, or where a way out of the block cannot be
covered, the place is reported only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods.frameworks.autocast import remedies
from codemods.frameworks.autocast.changes import toggled_off
from codemods.frameworks.autocast.modules import Path, covers, overlap, written
from codemods.frameworks.autocast.openings import DEPTH
from codemods.frameworks.autocast.passes import between, compiled, follows, rebound, stays_open
from codemods.frameworks.autocast.prefilter import Near, named_where_regions_open
from codemods.frameworks.autocast.regions import (
    EVALUATES,
    Region,
    around,
    callers,
    evaluates,
    holds,
    shared,
    switched_off,
)
from codemods.frameworks.autocast.uses import (
    BLOCKS,
    Use,
    followed,
    forgets,
    grad_mode,
    gradients,
    outward,
    runs,
    singles,
    switch,
    uses,
)
from codemods.model.edits import Consequence, Safety
from codemods.model.names import LIGHTNING_MODULE
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow
from codemods.syntax.tree import text_of

SITES = ("no_grad", "inference_mode", "set_grad_enabled")

NEAR = Near(SITES, suspected=True, unless=EVALUATES)

rule = Rule(
    code="AMP001",
    name="no-grad-in-autocast",
    summary="weights used under `no_grad` stay in autocast's cache without gradient, and the forward pass reuses them",
    fix_title="Call `torch.clear_autocast_cache()` at the end of the block",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    triggers=(SITES,),
    together=(SITES,),
    concerns=NEAR,
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://github.com/pytorch/pytorch/issues/112583",
        "https://github.com/pytorch/pytorch/pull/165068",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
    strategies=("clear-cache", "inner-nocache", "hoist", "disable-autocast", "separate-regions"),
    bites={"torch": "<2.11"},
)


_NAMED = re.compile(r"autocast|(?<![a-z])amp(?![a-z])|precision", re.IGNORECASE)
"""What a context that may be a region is called."""
Pair = tuple[Use, Use]
"""A use without gradients as it stands in the block, and as the function looked at sees it."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Weights that are trained after they ran without gradients, and the region in which both happens."""

    path: Path
    region: Region | None
    """None: none in sight."""


@rule.on(cst.With)
def block(node: cst.With, ctx: Context) -> Iterator[Draft]:
    """`with torch.no_grad(): …`"""
    item = next((i.item for i in node.items if grad_mode(ctx, i.item) == "off"), None)
    if item is not None and gradients(ctx, node) != "off":
        yield from _findings(ctx, item, list(node.body.body), node)


@rule.on(cst.With)
def recycled(node: cst.With, ctx: Context) -> Iterator[Draft]:
    """`with torch.set_grad_enabled(last_round): …` in a loop: the last round finds what the others left."""
    item = next((i.item for i in node.items if ctx.calls(i.item, "torch.set_grad_enabled")), None)
    loop = flow.loop_around(ctx.parents, node)
    if not isinstance(item, cst.Call) or grad_mode(ctx, item) != "maybe" or loop is None or not item.args:
        return
    if not NEAR.function(node, ctx):
        return
    scope = ctx.scope(node)
    changing = {ctx.name(n) for n in (loop.target, *flow.own(loop.target))} if isinstance(loop, cst.For) else set()
    changing |= {n for n, bs in ctx.bindings(scope).items() if any(loop in ctx.ancestors(b.node) for b in bs)}
    if not any(ctx.name(n) in changing for n in (item.args[0].value, *flow.own(item.args[0].value))):
        return
    if evaluates(ctx, node) or "set_autocast_cache_enabled" in ctx.text or forgets(ctx, node.body):
        return
    root = scope.body if isinstance(scope, cst.FunctionDef) else scope
    ons = [use for use in uses(ctx, root) if not use.off]
    offs = list(runs(ctx, node.body))
    for off in offs:
        region = shared(ctx, off.node, off.node)
        if region is not None and holds(region, ctx, loop) and not any(_warms(ctx, on, off, region) for on in ons):
            place = remedies.Place(ctx, None, list(node.body.body), [use.node for use in offs], region)
            yield from _repairs(ctx, item, Trouble(off.path, region), place)
            return


@rule.on(cst.FunctionDef)
def decorated(node: cst.FunctionDef, ctx: Context) -> Iterator[Draft]:
    """`@torch.no_grad()` on a function that is called in a region."""
    decorator = next((d.decorator for d in node.decorators if grad_mode(ctx, d.decorator) == "off"), None)
    if decorator is not None:
        yield from _findings(ctx, decorator, list(node.body.body), None)


@rule.on(cst.Expr)
def switched(node: cst.Expr, ctx: Context) -> Iterator[Draft]:
    """`torch.set_grad_enabled(False)` … `torch.set_grad_enabled(True)`"""
    if switch(ctx, node) != "off":
        return
    block = ctx.parent(node)
    if isinstance(block, cst.SimpleStatementLine):
        block = ctx.parent(block)
    if not isinstance(block, BLOCKS):
        return
    statements = list(singles(block.body))
    following = statements[statements.index(node) + 1 :]
    end = next((i for i, s in enumerate(following) if switch(ctx, s) == "on"), 0)
    if end:
        yield from _findings(ctx, node, following[:end], None)


def _findings(ctx: Context, shown: cst.CSTNode, body: Sequence[cst.CSTNode], block: cst.With | None) -> Iterator[Draft]:
    """Report a stretch of code without gradients, `body`, if weights that it uses are trained after it."""
    if not NEAR.function(shown, ctx):
        return
    if evaluates(ctx, body[0]) or "set_autocast_cache_enabled" in ctx.text:
        return
    if around(ctx, body[0]) is None and not _suspect(ctx, body[0]):
        return
    offs = [u for each in body for u in uses(ctx, each) if u.off and not toggled_off(ctx, u.node, u.path)]
    trouble = _trouble(ctx, [(use, use) for use in offs], DEPTH) if offs else None
    if trouble is None:
        return
    region = trouble.region
    if region is not None:
        place = remedies.Place(ctx, block, body, [use.node for use in offs], region)
        yield from _repairs(ctx, shown, trouble, place)
    elif _suspect(ctx, body[0]):
        what = f"`{written(trouble.path)}` runs under `{_called(ctx, shown)}` before it is trained"
        message = f"{what}: under autocast its cached weights have no gradient"
        yield rule.finding(shown, message=message, consequence=Consequence.STYLE)


def _repairs(ctx: Context, shown: cst.CSTNode, trouble: Trouble, place: remedies.Place) -> Iterator[Draft]:
    """The finding, with the repair that was asked for, where it is sure and possible."""
    region = place.region
    name, off, bites = written(trouble.path), _called(ctx, shown), {**rule.bites, **region.versions}
    what = f"`{name}` runs under `{off}` and is trained after it in the same autocast region"
    if region.precision == "none":
        return
    if region.precision == "unknown":
        message = f"{what}, if precision is mixed"
        yield rule.finding(shown, message=message, consequence=Consequence.STYLE, bites=bites)
        return
    if compiled(ctx, place.body[0]):
        yield rule.finding(shown, message=f"{what}; compiled code cannot empty the cache", bites=bites)
        return
    found = {name: remedy for name, make in remedies.REMEDIES.items() if (remedy := make(place)) is not None}
    strategy = ctx.strategies.get(rule.code, rule.strategies[0])  # nothing else is right without being asked for
    if strategy not in found:
        yield rule.finding(shown, message=what, strategies=list(found), bites=bites)
        return
    remedy = found[strategy]
    yield rule.finding(
        shown,
        fix=remedy.fix,
        message=what,
        title=remedy.title,
        safety=remedy.safety,
        strategy=strategy,
        strategies=list(found),
        needs=remedy.needs,
        requires=remedy.requires,
        bites=bites,
    )


def _called(ctx: Context, shown: cst.CSTNode) -> str:
    """How to name what switches gradients off."""
    node = shown.value if isinstance(shown, cst.Expr) else shown
    return ctx.name(node.func if isinstance(node, cst.Call) else node) or "no_grad"


def _trouble(ctx: Context, pairs: Sequence[Pair], depth: int) -> Trouble | None:
    """The first of some uses without gradients whose weights are trained after it, here or in a caller."""
    scope = ctx.scope(pairs[0][1].node)
    if not isinstance(scope, (cst.FunctionDef, cst.Module)):
        return None
    root = scope.body if isinstance(scope, cst.FunctionDef) else scope
    ons = [use for use in uses(ctx, root) if not use.off and not toggled_off(ctx, use.node, use.path)]
    forgotten = list(forgets(ctx, root))
    suspicion: Trouble | None = None
    for origin, off in pairs:
        for on in ons:
            if not overlap(on.path, off.path) or not follows(ctx, off.node, on.node):
                continue
            region = shared(ctx, off.node, on.node)
            if between(ctx, off.node, forgotten, on.node) or rebound(ctx, scope, off, on):
                continue
            if any(_warms(ctx, early, off, region) for early in ons):
                continue
            if region is not None and stays_open(ctx, region, off.node, on.node):
                if isinstance(scope, cst.FunctionDef) and _warmed_before(ctx, scope, off.path, region, DEPTH):
                    continue
                return Trouble(origin.path, region)
            if region is None and _open(ctx, off) and _open(ctx, on):
                suspicion = suspicion or Trouble(origin.path, None)
    for where, call in callers(ctx, scope) if depth and isinstance(scope, cst.FunctionDef) else ():
        if gradients(where, call) == "" and not evaluates(where, call):
            assert isinstance(scope, cst.FunctionDef)
            there = [
                (origin, Use(path, call, True, enclosed=not _open(ctx, off)))
                for origin, off in pairs
                if (path := outward(where, call, ctx, scope, off.path))
            ]
            found = _trouble(where, there, depth - 1) if there else None
            if found is not None and found.region is not None:
                return found
            suspicion = suspicion or found
    return suspicion


def _open(ctx: Context, use: Use) -> bool:
    """Whether a use may run in a region that somebody opens outside: it is in none here, and no function hides it."""
    for above in ctx.ancestors(use.node):
        if isinstance(above, cst.With) and any(_NAMED.search(text_of(item.item)) for item in above.items):
            return False
    if use.enclosed or switched_off(ctx, use.node):
        return False
    if not isinstance(use.node, cst.Call) or followed(ctx, use.node) is None:
        return True
    method = ctx.method(use.node)
    return method is not None and (ctx.name(use.node.func) or "").partition(".")[0] == method.self


def _warms(ctx: Context, early: Use, off: Use, region: Region | None) -> bool:
    """Whether a use with gradients comes first, and may leave copies in the cache that carry gradients."""
    if not (covers(early.path, off.path) and flow.reaches(ctx.parents, early.node, off.node)):
        return False
    return region is None or shared(ctx, early.node, off.node) == region


def _warmed_before(ctx: Context, function: cst.FunctionDef, path: Path, region: Region, depth: int) -> bool:
    """Whether every caller within the region has used the weights with gradients before it calls a function."""
    if region.holder is function or (region.context is ctx and function in ctx.ancestors(region.holder)):
        return False
    found = list(callers(ctx, function)) if depth else []
    return bool(found) and all(_warmed_at(where, call, ctx, function, path, region, depth) for where, call in found)


def _warmed_at(
    where: Context, call: cst.Call, ctx: Context, function: cst.FunctionDef, path: Path, region: Region, depth: int
) -> bool:
    given, scope = outward(where, call, ctx, function, path), where.scope(call)
    if given is None or not isinstance(scope, cst.FunctionDef):
        return False
    ons = [use for use in uses(where, scope.body) if not use.off]
    if any(covers(on.path, given) and flow.reaches(where.parents, on.node, call) for on in ons):
        return True
    return _warmed_before(where, scope, given, region, depth - 1)


def _suspect(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether mixed precision is near enough to speak of: autocast in a file that mentions this class or function."""
    klass, function = ctx.klass(node), ctx.function(node)
    name = klass.name if klass is not None else function.name.value if function is not None else ""
    if not named_where_regions_open(ctx, name.rpartition(".")[2]):
        return False
    if klass is not None and ctx.index.descends(klass, LIGHTNING_MODULE) is not False:
        return False
    return not compiled(ctx, node)
