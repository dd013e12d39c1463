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

Possible, and unsafe, where something that is not in sight may make it no bug: a context manager or decorator of the
project around one of the passes, a flag or option of autocast that is set elsewhere, code that empties the cache or
switches autocast off while the function runs, another `forward`, weights in low precision, weights that another file
freezes or makes of others, `enable_grad` in another file, an optimizer that steps with other weights, and Trainers of
the project that differ in their precision.

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
covered, the place is reported only. Possible where the program compiles anything: the graph of `torch.compile` keeps no
copies, and neither does a scripted or traced model (run with PyTorch 2.6). Possible, too, where nothing in sight is on
the GPU that the region is for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS
from codemods.flow.answers import Answer, unknown
from codemods.frameworks.autocast import remedies
from codemods.frameworks.autocast.changes import toggled_off, trainable
from codemods.frameworks.autocast.modules import (
    Path,
    covers,
    has_weights,
    overlap,
    something_is_cast,
    weights_are_float32,
    written,
)
from codemods.frameworks.autocast.openings import DEPTH, opening
from codemods.frameworks.autocast.passes import between, compiled, contrary, follows, rebound, stays_open
from codemods.frameworks.autocast.questions import gradients_are_used, nothing_interferes, unseen_regions
from codemods.frameworks.autocast.regions import (
    Region,
    around,
    beginnings,
    callers,
    evaluates,
    holds,
    keeps_by_hand,
    named_where_regions_open,
    shared,
    switched_off,
)
from codemods.frameworks.autocast.uses import (
    Use,
    applied,
    doubts,
    followed,
    forgets,
    outward,
    runs,
    uses,
)
from codemods.frameworks.gradients.grad_mode import grad_mode, gradients, switch
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import LIGHTNING_MODULE
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS, Function

SITES = ("no_grad", "inference_mode", "set_grad_enabled")

rule = Rule(
    code="AMP001",
    name="no-grad-in-autocast",
    summary="weights used under `no_grad` stay in autocast's cache without gradient, and the forward pass reuses them",
    fix_title="Call `torch.clear_autocast_cache()` at the end of the block",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    effects={"disable-autocast": Effect.NUMBERS},
    bounds={"hoist": Safety.UNSAFE, "disable-autocast": Safety.UNSAFE},
    follows=True,
    computed=Computed.NOTHING,
    triggers=(SITES,),
    errors=("element 0 of tensors does not require grad and does not have a grad_fn",),
    references=(
        "https://github.com/pytorch/pytorch/issues/112583",
        "https://github.com/pytorch/pytorch/pull/165068",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/20921",
    ),
    strategies=("clear-cache", "inner-nocache", "hoist", "disable-autocast", "separate-regions"),
    bites={"torch": "<2.11"},
)


Pair = tuple[Use, Use]
"""A use without gradients as it stands in the block, and as the function looked at sees it."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Weights that are trained after they ran without gradients, and the region in which both happens."""

    path: Path
    region: Region | None
    """None: none in sight."""
    is_bug: tuple[Answer, ...] = ()


@rule.on(ast.With)
def block(node: ast.With, ctx: PythonContext) -> Iterator[Draft]:
    """`with torch.no_grad(): …`"""
    items = [i.context_expr for i in node.items]
    item = next((each for each in items if grad_mode(ctx, each) == "off"), None)
    if item is not None and gradients(ctx, node) != "off":
        yield from _findings(ctx, item, node.body, node)


@rule.on(ast.With)
def recycled(node: ast.With, ctx: PythonContext) -> Iterator[Draft]:
    """`with torch.set_grad_enabled(last_round): …` in a loop: the last round finds what the others left."""
    item = next((i.context_expr for i in node.items if ctx.calls(i.context_expr, "torch.set_grad_enabled")), None)
    if not isinstance(item, ast.Call) or not item.args or grad_mode(ctx, item) != "maybe" or not beginnings(ctx):
        return
    scope = ctx.scope(node)
    loop = ctx.flow_of(scope).loop(node)
    if loop is None:
        return
    changing = {ctx.name(n) for n in ast.walk(loop.target)} if not isinstance(loop, ast.While) else set()
    changing |= {n for n, bs in ctx.bindings(scope).items() if any(loop in ctx.ancestors(b.node) for b in bs)}
    if not any((name := ctx.name(n)) is not None and name in changing for n in ast.walk(item.args[0])):
        return
    if evaluates(ctx, node) or keeps_by_hand(ctx) or forgets(ctx, node):
        return
    ons = [use for use in uses(ctx, scope) if not use.off]
    offs = list(runs(ctx, node))
    for off in offs:
        region = shared(ctx, off.node, off.node)
        if region is not None and holds(region, ctx, loop) and not any(_warms(ctx, on, off, region) for on in ons):
            place = remedies.NoGradCode(ctx, None, node.body, [use.node for use in offs], region)
            yield from _repairs(ctx, item, Trouble(off.path, region, _conditions(ctx, off, off, region)), place)
            return


@rule.on(ast.FunctionDef, ast.AsyncFunctionDef)
def decorated(node: Function, ctx: PythonContext) -> Iterator[Draft]:
    """`@torch.no_grad()` on a function that is called in a region."""
    decorator = next((d for d in node.decorator_list if grad_mode(ctx, d) == "off"), None)
    if decorator is not None:
        yield from _findings(ctx, decorator, node.body, None)


@rule.on(ast.Expr)
def switched(node: ast.Expr, ctx: PythonContext) -> Iterator[Draft]:
    """`torch.set_grad_enabled(False)` … `torch.set_grad_enabled(True)`"""
    if switch(ctx, node) != "off":
        return
    statements: list[ast.stmt] = getattr(*ctx.module.block(node))
    following = statements[statements.index(node) + 1 :]
    end = next((i for i, s in enumerate(following) if switch(ctx, s) == "on"), 0)
    if end:
        yield from _findings(ctx, node, following[:end], None)


@rule.on(ast.Call)
def called(node: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    """`torch.no_grad()(net)(x)`"""
    wrapped = applied(ctx, node)
    statement = ctx.statement(node)
    if wrapped is not None and isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)):
        if gradients(ctx, node) != "off":
            yield from _findings(ctx, wrapped[0], [statement], None)


def _findings(
    ctx: PythonContext, shown: ast.expr | ast.stmt, body: Sequence[ast.stmt], block: ast.With | None
) -> Iterator[Draft]:
    """Report a stretch of code without gradients, `body`, if weights that it uses are trained after it."""
    if not beginnings(ctx) or evaluates(ctx, body[0]) or keeps_by_hand(ctx):
        return
    offs = [u for each in body for u in uses(ctx, each) if u.off and not toggled_off(ctx, u.node, u.path)]
    if not offs or (around(ctx, body[0]) is None and not _suspect(ctx, body[0])):
        return
    trouble = _trouble(ctx, [(use, use) for use in offs], DEPTH)
    if trouble is None:
        return
    region = trouble.region
    if region is not None:
        place = remedies.NoGradCode(ctx, block, body, [use.node for use in offs], region)
        yield from _repairs(ctx, shown, trouble, place)
    elif _suspect(ctx, body[0]):
        what = f"`{written(trouble.path)}` runs under `{_called(ctx, shown)}` before it is trained"
        message = f"{what}: under autocast its cached weights have no gradient"
        nowhere = unknown(ctx.evidence(shown, "no region of autocast is in sight"), *unseen_regions(ctx, body[0]))
        is_bug = [*trouble.is_bug, nowhere]
        yield rule.finding(shown, message=message, is_bug=is_bug)


def _conditions(ctx: PythonContext, off: Use, on: Use, region: Region | None) -> tuple[Answer, ...]:
    """Whether what runs without gradients, and then with them, has weights that autocast keeps copies of."""
    assert isinstance(on.node, (ast.expr, ast.stmt))
    weights = (
        has_weights(ctx, off.sure or on.sure, on.node, on.path),
        weights_are_float32(ctx, on.path),
        something_is_cast(ctx, on.node),
        gradients_are_used(ctx, on.node, on.path),
    )
    doubts = (*off.doubts, *on.doubts)
    return (*weights, *nothing_interferes(ctx, region, off.node, on.node, inside=doubts, asked=weights))


def _repairs(
    ctx: PythonContext, shown: ast.expr | ast.stmt, trouble: Trouble, place: remedies.NoGradCode
) -> Iterator[Draft]:
    """The finding, with the repair that was asked for, where it is sure and possible."""
    region = place.region
    name, off, bites = written(trouble.path), _called(ctx, shown), {**rule.bites, **region.versions}
    what = f"`{name}` runs under `{off}` and is trained after it in the same autocast region"
    if region.precision == "none":
        return
    is_bug = [*trouble.is_bug]
    if region.precision in ("unknown", "several"):
        is_bug.append(unknown(ctx.evidence(shown, "no line shows that the precision is mixed")))
    if region.precision == "unknown":
        yield rule.finding(shown, message=what, is_bug=is_bug, bites=bites)
        return
    if compiled(ctx, place.body[0]):
        message = f"{what}; compiled code cannot empty the cache"
        yield rule.finding(shown, message=message, is_bug=is_bug, bites=bites)
        return
    found = {name: make(place) for name, make in remedies.REMEDIES.items()}
    yield rule.offer(shown, found, message=what, is_bug=is_bug, bites=bites)


def _called(ctx: PythonContext, shown: ast.expr | ast.stmt) -> str:
    """How to name what switches gradients off."""
    node = shown.value if isinstance(shown, ast.Expr) else shown
    return ctx.name(node.func if isinstance(node, ast.Call) else node) or "no_grad"


def _trouble(ctx: PythonContext, pairs: Sequence[Pair], depth: int) -> Trouble | None:
    """The first of some uses without gradients whose weights are trained after it, here or in a caller."""
    scope = ctx.scope(pairs[0][1].node)
    if not isinstance(scope, (*FUNCTIONS, ast.Module)):
        return None
    ons = [use for use in trainable(ctx, scope) if not use.off]
    forgotten = forgets(ctx, scope)
    suspicion: Trouble | None = None
    for origin, off in pairs:
        for on in ons:
            if not overlap(on.path, off.path) or not follows(ctx, off.node, on.node):
                continue
            if contrary(ctx, off.node, on.node):
                continue
            region = shared(ctx, off.node, on.node)
            if between(ctx, off.node, forgotten, on.node) or rebound(ctx, off.node, off.path, on.node):
                continue
            if any(_warms(ctx, early, off, region) for early in ons):
                continue
            if region is not None and stays_open(ctx, region, off.node, on.node):
                if isinstance(scope, FUNCTIONS) and _warmed_before(ctx, scope, off.path, region, DEPTH):
                    continue
                return Trouble(origin.path, region, _conditions(ctx, off, on, region))
            if region is None and _open(ctx, off) and _open(ctx, on):
                suspicion = suspicion or Trouble(origin.path, None, _conditions(ctx, off, on, None))
    for where, call in callers(ctx, scope) if depth and isinstance(scope, FUNCTIONS) else ():
        if gradients(where, call) == "" and not evaluates(where, call):
            assert isinstance(scope, FUNCTIONS)
            there = [
                (origin, Use(path, call, True, enclosed=not _open(ctx, off), sure=off.sure, doubts=doubts(ctx, off)))
                for origin, off in pairs
                if (path := outward(where, call, ctx, scope, off.path))
            ]
            found = _trouble(where, there, depth - 1) if there else None
            if found is not None and found.region is not None:
                return found
            suspicion = suspicion or found
    return suspicion


def _open(ctx: PythonContext, use: Use) -> bool:
    """Whether a use may run in a region that somebody opens outside: it is in none here, and no function hides it."""
    around = [each for each in ctx.regions(use.node, nested=True) if isinstance(each.holder, WITHS)]
    if use.enclosed or switched_off(ctx, use.node) or any(_may_open(ctx, each.entered) for each in around):
        return False
    if not isinstance(use.node, ast.Call) or followed(ctx, use.node) is None:
        return True
    method = ctx.method(use.node)
    return method is not None and (ctx.name(use.node.func) or "").partition(".")[0] == method.self


def _may_open(ctx: PythonContext, manager: ast.expr) -> bool:
    """Whether a context manager opens a region, or cannot be told to open none."""
    maker = manager.func if isinstance(manager, ast.Call) else manager
    return opening(ctx, manager) is not None or not ctx.origin(maker)


def _warms(ctx: PythonContext, early: Use, off: Use, region: Region | None) -> bool:
    """Whether a use with gradients comes first, and may leave copies in the cache that carry gradients."""
    if not (covers(early.path, off.path) and ctx.flow_of(ctx.scope(off.node)).reaches(early.node, off.node)):
        return False
    return region is None or shared(ctx, early.node, off.node) == region


def _warmed_before(ctx: PythonContext, function: Function, path: Path, region: Region, depth: int) -> bool:
    """Whether every caller within the region has used the weights with gradients before it calls a function."""
    if region.holder is function or (region.context is ctx and function in ctx.ancestors(region.holder)):
        return False
    found = list(callers(ctx, function)) if depth else []
    return bool(found) and all(_warmed_at(where, call, ctx, function, path, region, depth) for where, call in found)


def _warmed_at(
    where: PythonContext, call: ast.Call, ctx: PythonContext, function: Function, path: Path, region: Region, depth: int
) -> bool:
    given, scope = outward(where, call, ctx, function, path), where.scope(call)
    if given is None or not isinstance(scope, FUNCTIONS):
        return False
    ons = [use for use in uses(where, scope) if not use.off]
    if any(covers(on.path, given) and where.flow_of(scope).reaches(on.node, call) for on in ons):
        return True
    return _warmed_before(where, scope, given, region, depth - 1)


def _suspect(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether mixed precision is near enough to speak of: autocast in a file that mentions this class or function."""
    klass, function = ctx.klass(node), ctx.function(node)
    name = klass.name if klass is not None else function.name if function is not None else ""
    if not named_where_regions_open(ctx, name.rpartition(".")[2]):
        return False
    if klass is not None and ctx.index.descends(klass, LIGHTNING_MODULE) is not False:
        return False
    return not compiled(ctx, node)
