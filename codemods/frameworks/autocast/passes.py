"""What one region sees, in order: whether one use can follow another, and what happens on the way."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from codemods.frameworks.autocast.modules import covers
from codemods.frameworks.autocast.regions import Region, holds
from codemods.frameworks.autocast.uses import Use
from codemods.model.names import TORCH_MODULE
from codemods.rules.context import Context
from codemods.syntax import flow

_COMPILERS = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.script_method"})


def between(ctx: Context, first: cst.CSTNode, nodes: Sequence[cst.CSTNode], last: cst.CSTNode) -> bool:
    """Whether one of `nodes` stands on the way from one node to another, in one pass or round a loop."""
    straight = flow.order(ctx.parents, first, last) is flow.Order.BEFORE
    loop = None if straight else flow.loop_around(ctx.parents, first, last)
    for node in nodes:
        if loop is not None and node is not loop and loop not in ctx.ancestors(node):
            continue  # what stands outside of the loop does not run between two of its rounds
        after = flow.order(ctx.parents, first, node) in (flow.Order.BEFORE, flow.Order.NESTED)
        before = flow.order(ctx.parents, node, last) is flow.Order.BEFORE
        if (after and before) if straight else (after or before):
            return True
    return False


def follows(ctx: Context, first: cst.CSTNode, later: cst.CSTNode) -> bool:
    """Whether one node can run after another, in the same pass or in the next round of a loop."""
    inside = later in ctx.ancestors(first)  # an argument is evaluated before its call
    return inside or flow.reaches(ctx.parents, first, later) or flow.comes_round(ctx.parents, first, later)


def stays_open(ctx: Context, region: Region, first: cst.CSTNode, later: cst.CSTNode) -> bool:
    """Whether the region is still the same one when the second use runs: not if each round of a loop opens its own."""
    if later in ctx.ancestors(first) or flow.reaches(ctx.parents, first, later):
        return True
    return holds(region, ctx, flow.loop_around(ctx.parents, first, later))


def rebound(ctx: Context, scope: cst.CSTNode, off: Use, on: Use) -> bool:
    """Whether the module is another one by the time of the second use."""
    found = [b.node for name, bs in ctx.bindings(scope).items() for b in bs if covers(tuple(name.split(".")), off.path)]
    return between(ctx, off.node, found, on.node)


def compiled(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether code is scripted, traced or compiled in sight."""
    functions = [a for a in ctx.ancestors(node) if isinstance(a, cst.FunctionDef)]
    for decorator in (d.decorator for f in functions for d in f.decorators):
        if ctx.means(decorator.func if isinstance(decorator, cst.Call) else decorator, _COMPILERS):
            return True
    names = {f.name.value for f in functions}
    klass = ctx.klass(node)
    module = klass is not None and ctx.index.descends(klass, TORCH_MODULE) is not False
    for call in ctx.all(cst.Call, *ctx.spellings(*_COMPILERS)):
        if ctx.means(call.func, _COMPILERS) and call.args:
            if (ctx.name(call.args[0].value) or "").rpartition(".")[2] in names or module:
                return True
    name = klass.name.rpartition(".")[2] if klass is not None else functions[-1].name.value if functions else ""
    return bool(name) and _compiled_elsewhere(ctx, name)


def _compiled_elsewhere(ctx: Context, name: str) -> bool:
    """Whether another file that names a class or function scripts, traces or compiles something."""
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        facts = ctx.index.facts(path) if path != ctx.path else None
        if facts is None or facts.called.isdisjoint({"compile", "script", "trace", "script_method"}):
            continue
        if (other := ctx.other(path)) is not None:
            if any(other.means(call.func, _COMPILERS) for call in other.named_calls("compile", "script", "trace")):
                return True
    return False
