"""What one region sees, in order: whether one use can follow another, and what happens on the way."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.analysis.calls import named_calls
from codemods.analysis.python_context import PythonContext
from codemods.frameworks.autocast.modules import Path
from codemods.frameworks.autocast.regions import Region, holds
from codemods.model.names import TORCH_MODULE
from codemods.syntax.module import FUNCTIONS

COMPILERS = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace", "torch.jit.script_method"})
COMPILING = ("compile", "script", "trace", "script_method")


def between(ctx: PythonContext, first: ast.AST, nodes: Sequence[ast.AST], last: ast.AST) -> bool:
    """Whether one of `nodes` stands on the way from one node to another, in one pass or round a loop."""
    if not nodes:
        return False
    flow, module = ctx.flow_of(ctx.scope(first)), ctx.module
    straight = flow.stands_before(first, last)
    loop = None if straight else flow.loop(first, last)
    for node in nodes:
        if loop is not None and not module.contains(loop, node):
            continue  # what stands outside of the loop does not run between two of its rounds
        after = flow.stands_before(first, node) or module.contains(first, node) or module.contains(node, first)
        before = flow.stands_before(node, last)
        if (after and before) if straight else (after or before):
            return True
    return False


def follows(ctx: PythonContext, first: ast.AST, later: ast.AST) -> bool:
    """Whether one node can run after another, in the same pass or in the next round of a loop."""
    if later in ctx.ancestors(first):
        return True  # an argument is evaluated before its call
    flow = ctx.flow_of(ctx.scope(first))
    return flow.reaches(first, later) or flow.comes_round(first, later)


def contrary(ctx: PythonContext, first: ast.AST, later: ast.AST) -> bool:
    """Whether two nodes stand under two tests of which one says what the other denies: `if training`, `if not …`."""
    flow = ctx.flow_of(ctx.scope(first))
    here, there = flow.tests(first), flow.tests(later)
    return any(there.get(test, holds) is not holds for test, holds in here.items())


def stays_open(ctx: PythonContext, region: Region, first: ast.AST, later: ast.AST) -> bool:
    """Whether the region is still the same one when the second use runs: not if each round of a loop opens its own."""
    flow = ctx.flow_of(ctx.scope(first))
    if later in ctx.ancestors(first) or flow.reaches(first, later):
        return True
    return holds(region, ctx, flow.loop(first, later))


def rebound(ctx: PythonContext, first: ast.AST, path: Path, last: ast.AST) -> bool:
    """Whether a path leads to another module by the time of the second of two nodes."""
    bindings = ctx.bindings(ctx.scope(first))
    names = (".".join(path[:length]) for length in range(1, len(path) + 1))
    return between(ctx, first, [b.node for name in names for b in bindings.get(name, ())], last)


def compiled(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether code is scripted, traced or compiled in sight."""
    functions = [a for a in ctx.ancestors(node) if isinstance(a, FUNCTIONS)]
    if any(ctx.means(each.maker, COMPILERS) for each in ctx.regions(node, nested=True)):
        return True
    names = {f.name for f in functions}
    klass = ctx.klass(node)
    module = klass is not None and ctx.index.descends(klass, TORCH_MODULE) is not False
    for call in ctx.all(ast.Call):
        if call.args and ctx.means(call.func, COMPILERS):
            if module or (ctx.name(call.args[0]) or "").rpartition(".")[2] in names:
                return True
    name = klass.name.rpartition(".")[2] if klass is not None else functions[-1].name if functions else ""
    return bool(name) and _compiled_elsewhere(ctx, name)


def _compiled_elsewhere(ctx: PythonContext, name: str) -> bool:
    """Whether another file that names a class or function scripts, traces or compiles something."""
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        facts = ctx.index.facts(path) if path != ctx.path else None
        if facts is None or facts.called.isdisjoint(COMPILING):
            continue
        if (other := ctx.other(path)) is not None:
            if any(other.means(call.func, COMPILERS) for call in named_calls(other, *COMPILING[:3])):
                return True
    return False
