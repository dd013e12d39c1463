"""Where autocast is on: lexical `with`, decorators, LightningModule steps, aliases of the context, callers.

The weight cache of autocast lives as long as the *outermost* region, so two pieces of code share it when one region
holds both. Unknown is no region.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from codemods.frameworks.autocast.openings import DEPTH, Opening, opening
from codemods.frameworks.autocast.prefilter import UNNAMED, calling
from codemods.model.names import LIGHTNING_MODULE, LIGHTNING_TRAINER
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import argument, has_splat

EVALUATES = re.compile(
    r"_*(val|valid|validate|validation|eval|evaluate|evaluation|test|infer|inference|predict|demo|benchmark)(_|\d|$)"
)
"""The names of functions in which nothing is trained."""
_MIXED = (16, "16", "bf16", "16-mixed", "bf16-mixed")


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
        """Lightning opens its region without the cache since 2.5.5; a `torch.autocast` inside follows it."""
        return {"lightning": "<2.5.5"} if self.step or self._inherits else {}

    @property
    def _inherits(self) -> bool:
        """Whether the region keeps what the one around it keeps, which is Lightning's.

        `torch.autocast` leaves the cache as it finds it; `torch.cuda.amp.autocast` switches it on.
        """
        call = self.opening.call
        if call is None or not self.context.means(call.func, "torch.autocast") or has_splat(call):
            return False
        if argument(call, "cache_enabled", 3) is not None or set(_precisions(self.context)) != {"mixed"}:
            return False
        outer = whole(self.context, self.context.scope(self.holder))
        return outer is not None and outer.step

    @property
    def precision(self) -> str:
        """`mixed`, `none`, `chosen` by a value that only a run can tell, `unknown` where no Trainer is in sight."""
        return trainer_precision(self.context) if self.step else "mixed"


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
    """Whether what speaks of autocast nearest to a node, a `with` or a decorator, keeps nothing in the cache."""
    below = node
    for above in ctx.ancestors(node):
        if isinstance(above, cst.FunctionDef) and below is above.body:
            opened = next((o for d in above.decorators if (o := opening(ctx, d.decorator))), None)
            return opened is not None and not opened.caches
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
    return ctx.index.descends(method.owner, LIGHTNING_MODULE) is True


def trainer_precision(ctx: Context) -> str:
    """What the project's Trainers say: `mixed`, `chosen` (by a run), `none`, or `unknown`."""
    answers = set(_precisions(ctx))
    if answers & {"mixed", "chosen"}:
        return "mixed" if "mixed" in answers else "chosen"
    return "none" if answers == {"none"} else "unknown"


def _precisions(ctx: Context) -> Iterator[str]:
    """What each Trainer of the project says; `chosen` by a value that only a run can tell."""
    for path, setting in ctx.index.settings(ctx.path):
        name = (setting.call.dotted or "").rpartition(".")[2]
        if name in ("MixedPrecision", "LightningCLI"):
            yield "chosen" if name == "MixedPrecision" else "unknown"
        elif name == "Trainer" and ctx.index.resolve(path, setting.call.dotted or "") <= LIGHTNING_TRAINER:
            given = setting.call.keywords.get("precision")
            if given is None:
                yield "chosen" if setting.call.splat else "none"
            elif isinstance(given.literal, (int, str)) or given.literal is None:
                yield "mixed" if given.literal in _MIXED else "none"
            else:
                yield "chosen"


def callers(ctx: Context, function: cst.FunctionDef) -> Iterator[tuple[Context, cst.Call]]:
    """The calls in the project that surely run a function; elsewhere only in files that speak of regions.

    A `training_step` is run by its Trainer.
    """
    yield from ((ctx, call) for call in ctx.callers(function))
    name = function.name.value
    if name in UNNAMED or isinstance(ctx.scope(function), cst.FunctionDef) or is_step(ctx, function):
        return
    qualified = ctx.qualified(function)
    for path in calling(ctx, name):
        if path == ctx.path or not _imports(ctx, path, qualified):
            continue
        if (where := ctx.other(path)) is None:
            continue
        for call in where.named_calls(name):
            target = where.callee(call)
            if target is not None and target[0].path == ctx.path and target[0].qualified(target[1]) == qualified:
                yield where, call


def _imports(ctx: Context, path: str, qualified: str) -> bool:
    """Whether a file imports the module of `ctx` by name, or a part of `qualified` from wherever it is handed on."""
    names = {*qualified.split("."), ctx.path.removesuffix(".py").removesuffix("/__init__").rpartition("/")[2], "*"}
    if names.isdisjoint(_imported(ctx.index.text(path) or "")):
        return False
    facts = ctx.index.facts(path)
    return facts is not None and any({i.name, i.target.rpartition(".")[2]} & names for i in facts.imports)


@lru_cache(maxsize=1_000)
def _imported(text: str) -> frozenset[str]:
    """The words of what may be a file's import statements, told without parsing it."""
    return frozenset(_WORD.findall("\n".join(_IMPORT.findall(text))))


_IMPORT = re.compile(r"\b(?:from|import)\b(?:\((?:#[^\n]*|[^)#])*\)|\\\r?\n|[^\n(\\])*")
_WORD = re.compile(r"\w+|\*")


def evaluates(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether the functions around a node say by their names that nothing is trained in them."""
    return any(isinstance(a, cst.FunctionDef) and EVALUATES.match(a.name.value) for a in ctx.ancestors(node))
