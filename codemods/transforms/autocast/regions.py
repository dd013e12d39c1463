"""Where autocast is on: lexical `with`, decorators, LightningModule steps, aliases of the context, callers.

The weight cache of autocast lives as long as the *outermost* region, so two pieces of code share it when one region
holds both. Unknown is no region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods import flow, known
from codemods.context import Context
from codemods.rewrite import argument, literal

DEPTH = 3
"""How far a region is followed outward along calls."""
_EVALUATES = re.compile(
    r"_*(val|valid|validate|validation|eval|evaluate|evaluation|test|infer|inference|predict|demo|benchmark)(_|\d|$)"
)
_MIXED = (16, "16", "bf16", "16-mixed", "bf16-mixed")
_UNNAMED = ("forward", "__call__", "__init__", "main", "<lambda>")
"""Function names that too many files call to look for."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What an expression does when it is entered: autocast with a weight cache (`caches`), or without."""

    caches: bool
    call: cst.Call | None = None
    """The call of autocast itself, where it stands right here."""


@dataclass(frozen=True, slots=True)
class Region:
    """An outermost region: the `with`, or the function that runs in it as a whole."""

    context: Context
    holder: cst.With | cst.FunctionDef
    opening: Opening
    step: bool = False
    """Lightning opens it around `training_step`."""

    @property
    def versions(self) -> dict[str, str]:
        """Where Lightning opens the region, it does so without the cache since 2.5.5."""
        return {"lightning": "<2.5.5"} if self.step else {}

    @property
    def precision(self) -> str:
        """`mixed` where somebody chooses it, `none` where nobody does, `unknown` where no Trainer is in sight."""
        return trainer_precision(self.context) if self.step else "mixed"


# -- what opens a region


def opening(ctx: Context, node: cst.CSTNode, depth: int = DEPTH) -> Opening | None:
    """What entering an expression does to autocast; None: nothing that can be told."""
    if depth < 0:
        return None
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            return _together(opening(ctx, arm, depth - 1) for arm in (body, orelse))
        case cst.Call(func=func):
            if ctx.means(func, known.AUTOCAST):
                return Opening(_caches(ctx, func, node.args), node)
            if isinstance(func, cst.Attribute) and func.attr.value == "autocast" and _engine(ctx, func.value):
                return Opening(True)
            return _made(ctx, node, depth - 1)
        case cst.Name() | cst.Attribute():
            return _alias(ctx, node, depth - 1)
        case _:
            return None


def _together(found: Iterator[Opening | None]) -> Opening | None:
    opened = [each for each in found if each is not None]
    return Opening(any(each.caches for each in opened)) if opened else None


def _alias(ctx: Context, node: cst.CSTNode, depth: int) -> Opening | None:
    """An alias is a region if every value given to it is one, or a `nullcontext`."""
    found = []
    for where, value in values(ctx, node):
        each = opening(where, value, depth)
        if each is None and not where.calls(value, "contextlib.nullcontext"):
            return None
        found.append(each)
    return _together(iter(found))


def _made(ctx: Context, call: cst.Call, depth: int) -> Opening | None:
    """`amp()` where amp is a partial, a class picked by a condition, a lambda, or a function that returns a context."""
    if (target := ctx.callee(call)) is not None:
        where, function = target
        returned = [node.value for node in flow.own(function.body) if isinstance(node, cst.Return) and node.value]
        if returned:
            return _together(opening(where, value, depth) for value in returned)
        return _manager(where, function, depth)
    found: list[Opening | None] = []
    for where, value in values(ctx, call.func):
        match value:
            case cst.Lambda(body=body):
                found.append(opening(where, body, depth))
            case cst.Call(func=func, args=[cst.Arg(value=first), *rest]) if where.means(func, "functools.partial"):
                caches = where.means(first, known.AUTOCAST) and _caches(where, first, rest)
                found.append(Opening(caches) if where.means(first, known.AUTOCAST) else None)
            case cst.IfExp(body=body, orelse=orelse):
                found.append(Opening(True) if any(where.means(a, known.AUTOCAST) for a in (body, orelse)) else None)
            case _:
                found.append(Opening(_caches(where, value, call.args)) if where.means(value, known.AUTOCAST) else None)
    return _together(iter(found)) if found and all(found) else None


def _manager(ctx: Context, function: cst.FunctionDef, depth: int) -> Opening | None:
    """A `@contextmanager` that yields inside a region."""
    if not any(ctx.means(d.decorator, "contextlib.contextmanager") for d in function.decorators):
        return None
    yields = [node for node in flow.own(function.body) if isinstance(node, cst.Yield)]
    withs = [lexical(ctx, node, depth) for node in yields]
    return withs[0].opening if len(withs) == 1 and withs[0] is not None else None


def values(ctx: Context, node: cst.CSTNode) -> list[tuple[Context, cst.BaseExpression]]:
    """Every expression that may give a name, or an attribute of `self`, its value; empty where one is unknown."""
    name, method = ctx.name(node), ctx.method(node)
    if name is None:
        return []
    if method is not None and name.startswith(method.self + ".") and name.count(".") == 1:
        return _attribute(ctx, node, name.partition(".")[2])
    bindings = ctx.assigned(node) or []
    given = [(ctx, b.value) for b in bindings if b.value is not None]
    return given if len(given) == len(bindings) else []


def _attribute(ctx: Context, node: cst.CSTNode, attribute: str) -> list[tuple[Context, cst.BaseExpression]]:
    owner = ctx.klass(node)
    found: list[tuple[Context, cst.BaseExpression]] = []
    for ref in ctx.index.lineage(owner).refs if owner else ():
        where = ctx.other(ref.path)
        classes = [k for k in where.all(cst.ClassDef) if where.qualified(k) == ref.name] if where else []
        if where is None or len(classes) != 1:
            return []
        for function in classes[0].body.body:
            if not isinstance(function, cst.FunctionDef) or not function.params.params:
                continue
            for b in where.bindings(function).get(f"{function.params.params[0].name.value}.{attribute}", ()):
                if b.value is None:
                    return []
                found.append((where, b.value))
    return found


def _engine(ctx: Context, receiver: cst.BaseExpression) -> bool:
    """Whether `receiver.autocast()` is that of a Fabric or an Accelerator (by kind, else by name)."""
    if ctx.kind(receiver) is not None:
        return ctx.is_a(receiver, known.FABRIC | known.ACCELERATOR)
    return (ctx.name(receiver) or "").rpartition(".")[2].lower() in ("fabric", "accelerator", "accel")


def _caches(ctx: Context, func: cst.BaseExpression, args: Sequence[cst.Arg]) -> bool:
    """Whether a call of autocast may switch it on with its cache."""
    call = cst.Call(cst.Name("autocast"), args)
    first = 2 if ctx.means(func, "torch.autocast") else 0
    for name, position in (("enabled", first), ("cache_enabled", first + 1 if first else 2)):
        given = argument(call, name, position)
        if given is not None and _is_false(ctx, given.value):
            return False
        if given is None and any(_hidden_false(ctx, arg, name) for arg in args if arg.star == "**"):
            return False
    return True


def _is_false(ctx: Context, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Name) and literal(node) is ...:
        bindings = ctx.assigned(node) or []
        return len(bindings) == 1 and bindings[0].value is not None and literal(bindings[0].value) is False
    return literal(node) is False


def _hidden_false(ctx: Context, arg: cst.Arg, name: str) -> bool:
    """Whether `**options` is a dict in sight that switches something off."""
    for value in [arg.value, *(v for _, v in values(ctx, arg.value))]:
        match value:
            case cst.Dict(elements=elements):
                for e in elements:
                    if isinstance(e, cst.DictElement) and literal(e.key) == name and literal(e.value) is False:
                        return True
            case cst.Call(func=cst.Name(value="dict"), args=given):
                if any(a.keyword and a.keyword.value == name and literal(a.value) is False for a in given):
                    return True
    return False


# -- which region code runs in


def lexical(ctx: Context, node: cst.CSTNode, depth: int = DEPTH) -> Region | None:
    """The outermost `with` region around a node in its own function, if the innermost one caches."""
    found: Region | None = None
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, flow.SCOPES):
            break
        if isinstance(above, cst.With) and (opened := entered(ctx, above, below, depth)):
            if not opened.caches and found is None:
                return None
            if opened.caches:
                found = Region(ctx, above, opened)
        below = above
    return found


def entered(ctx: Context, node: cst.With, below: cst.CSTNode, depth: int = DEPTH) -> Opening | None:
    """What the items of a `with` do to autocast for its body, or for the items after them."""
    items = node.items[: node.items.index(below)] if below in node.items else node.items
    opened = [found for item in items if (found := opening(ctx, item.item, depth))]
    return opened[-1] if opened else None


def switched_off(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether the innermost `with` that speaks of autocast keeps nothing in the cache."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, flow.SCOPES):
            return False
        if isinstance(above, cst.With) and (opened := entered(ctx, above, below)):
            return not opened.caches
        below = above
    return False


def whole(ctx: Context, function: cst.CSTNode, depth: int = DEPTH) -> Region | None:
    """The region in which a function runs from its first to its last statement."""
    if not isinstance(function, cst.FunctionDef):
        return None
    for decorator in function.decorators:
        if opened := opening(ctx, decorator.decorator):
            return Region(ctx, function, opened) if opened.caches else None
    if is_step(ctx, function):
        return Region(ctx, function, Opening(True), step=True)
    for where, call in callers(ctx, function) if depth else ():
        if found := around(where, call, depth - 1):
            return found
    return None


def around(ctx: Context, node: cst.CSTNode, depth: int = DEPTH) -> Region | None:
    """The region in which a node runs, followed outward along calls."""
    if switched_off(ctx, node):
        return None
    return whole(ctx, ctx.scope(node), depth) or lexical(ctx, node)


def shared(ctx: Context, a: cst.CSTNode, b: cst.CSTNode) -> Region | None:
    """The region that stays open from one node of a function to another."""
    if switched_off(ctx, a) or switched_off(ctx, b):
        return None
    first, second = lexical(ctx, a), lexical(ctx, b)
    if first is not None and second is not None and first.holder is second.holder:
        return first
    return whole(ctx, ctx.scope(a))


def holds(region: Region, ctx: Context, loop: cst.CSTNode | None) -> bool:
    """Whether a loop runs inside a region (else each of its rounds has a region of its own)."""
    if loop is None:
        return False
    local = isinstance(region.holder, cst.With) and ctx.scope(region.holder) is ctx.scope(loop)
    return not local or region.holder in ctx.ancestors(loop)


def is_step(ctx: Context, function: cst.FunctionDef) -> bool:
    """Whether a function is the `training_step` of a LightningModule, or a closure in it."""
    method = ctx.method(function)
    if method is None or method.name != "training_step":
        return False
    return ctx.index.descends(method.owner, known.LIGHTNING_MODULE) is True


def trainer_precision(ctx: Context) -> str:
    """What the project's Trainers say: `mixed`, `none`, or `unknown`."""
    answers = set()
    for path, setting in ctx.index.settings(ctx.path):
        name = (setting.call.dotted or "").rpartition(".")[2]
        if name in ("MixedPrecision", "LightningCLI"):
            answers.add("mixed" if name == "MixedPrecision" else "unknown")
        elif name == "Trainer" and ctx.index.resolve(path, setting.call.dotted or "") <= known.LIGHTNING_TRAINER:
            given = setting.call.keywords.get("precision")
            if given is None:
                answers.add("mixed" if setting.call.splat else "none")
            else:
                told = isinstance(given.literal, (int, str)) or given.literal is None
                answers.add("mixed" if given.literal in _MIXED or not told else "none")
    return next((a for a in ("mixed", "unknown", "none") if a in answers), "unknown")


def callers(ctx: Context, function: cst.FunctionDef) -> Iterator[tuple[Context, cst.Call]]:
    """The calls in the project that surely run a function; elsewhere only in files that speak of regions."""
    yield from ((ctx, call) for call in ctx.callers(function))
    name = function.name.value
    if name in _UNNAMED or isinstance(ctx.scope(function), cst.FunctionDef):
        return
    qualified = ctx.qualified(function)
    regions = set(ctx.index.search(ctx.path, (b"autocast", b"training_step")))
    for path in ctx.index.search(ctx.path, (name.encode(),)):
        if path == ctx.path or path not in regions or (where := ctx.other(path)) is None:
            continue
        for call in where.all(cst.Call):
            if (where.name(call.func) or "").rpartition(".")[2] == name and (target := where.callee(call)):
                if target[0].path == ctx.path and target[0].qualified(target[1]) == qualified:
                    yield where, call


def evaluates(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether the functions around a node say by their names that nothing is trained in them."""
    return any(isinstance(a, cst.FunctionDef) and _EVALUATES.match(a.name.value) for a in ctx.ancestors(node))
