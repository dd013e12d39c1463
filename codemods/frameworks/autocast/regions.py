"""Where autocast is on: lexical `with`, decorators, LightningModule steps, aliases of the context, callers.

The weight cache of autocast lives as long as the *outermost* region, so two pieces of code share it when one region
holds both. Unknown is no region.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.analysis.calls import argument, callers_here, callers_in, has_splat, named_calls
from codemods.analysis.instances import library_values
from codemods.analysis.places import where_defined
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS, Manager
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.frameworks.autocast.openings import DEPTH, Opening, opening
from codemods.frameworks.gradients.grad_mode import grad_mode
from codemods.model.edits import Evidence
from codemods.model.names import LIGHTNING_MODULE, LIGHTNING_TRAINER
from codemods.syntax.facts import Facts, Setting
from codemods.syntax.module import FUNCTIONS, Function

SPEAKING = (b"autocast", b"training_step")
"""Identifiers that stand in every file in which a region begins."""
_UNNAMED = ("forward", "__call__", "__init__", "main")
"""Functions of these names are called in too many files to look for the calls."""
EVALUATES = re.compile(
    r"_*(val|valid|validate|validation|eval|evaluate|evaluation|test|infer|inference|predict|demo|benchmark)(_|\d|$)"
)
"""The names of functions in which nothing is trained."""
_SCALED = (16, "16", "16-mixed")
_MIXED = (*_SCALED, "bf16", "bf16-mixed")
_PLAIN_STRATEGIES = ("auto", "ddp", "ddp_find_unused_parameters_true", "ddp_spawn", "single_device")
"""Strategies that leave loss scaling to the precision plugin."""


@dataclass(frozen=True, slots=True)
class Region:
    """An outermost region: the `with`, or the function that runs in it as a whole."""

    context: PythonContext
    holder: ast.With | ast.AsyncWith | Function
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
        if argument(call, "cache_enabled", 3) is not None or not set(_precisions(self.context)) <= {"mixed", "scaled"}:
            return False
        outer = whole(self.context, self.context.scope(self.holder))
        return outer is not None and outer.step

    @property
    def hides_options(self) -> bool:
        """Whether options that are not in sight may switch the cache off, or leave it as the region around has it."""
        if self.opening.in_doubt:
            return True
        if self.step or self.opening.call is not None:
            return False
        outer = whole(self.context, self.context.scope(self.holder))
        return outer is not None and outer.step

    @property
    def precision(self) -> str:
        """`mixed`, `none`, `chosen` by a run, `several` where Trainers differ, `unknown` where none is in sight."""
        return trainer_precision(self.context) if self.step else "mixed"


def beginnings(ctx: PythonContext) -> Sequence[str]:
    """The files of the project in which regions may begin."""
    return ctx.index.search(ctx.path, SPEAKING)


def _opened(ctx: PythonContext, node: ast.AST) -> list[tuple[Manager, Opening]]:
    """What is in force at a node and speaks of autocast, outermost first."""
    found = ((manager, opening(ctx, manager.entered)) for manager in ctx.regions(node))
    return [(manager, opened) for manager, opened in found if opened is not None]


def lexical(ctx: PythonContext, node: ast.AST) -> Region | None:
    """The outermost `with` region around a node in its own function, if the innermost one caches."""
    opened = [(m.holder, o) for m, o in _opened(ctx, node) if isinstance(m.holder, WITHS)]
    if not opened or not opened[-1][1].caches:
        return None
    return next(Region(ctx, holder, opening) for holder, opening in opened if opening.caches)


def switched_off(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether what speaks of autocast nearest to a node, a `with` or a decorator, keeps nothing in the cache."""
    opened = _opened(ctx, node)
    return bool(opened) and not opened[-1][1].caches


def whole(ctx: PythonContext, function: ast.AST, depth: int = DEPTH) -> Region | None:
    """The region in which a function runs from its first to its last statement."""
    if not isinstance(function, FUNCTIONS):
        return None
    key = (whole, function, depth)
    if key not in ctx.memo:
        ctx.memo[key] = _whole(ctx, function, depth)
    found: Region | None = ctx.memo[key]
    return found


def _whole(ctx: PythonContext, function: Function, depth: int) -> Region | None:
    for decorator in function.decorator_list:
        if opened := opening(ctx, decorator):
            return Region(ctx, function, opened) if opened.caches else None
    if is_step(ctx, function):
        return Region(ctx, function, Opening(True), step=True)
    for where, call in callers(ctx, function) if depth else ():
        if found := around(where, call, depth - 1):
            return found
    return None


def around(ctx: PythonContext, node: ast.AST, depth: int = DEPTH) -> Region | None:
    """The region in which a node runs, followed outward along calls."""
    if switched_off(ctx, node):
        return None
    return whole(ctx, ctx.scope(node), depth) or lexical(ctx, node)


def shared(ctx: PythonContext, a: ast.AST, b: ast.AST) -> Region | None:
    """The region that stays open from one node of a function to another."""
    if switched_off(ctx, a) or switched_off(ctx, b):
        return None
    first, second = lexical(ctx, a), lexical(ctx, b)
    if first is not None and second is not None and first.holder is second.holder:
        return first
    return whole(ctx, ctx.scope(a))


def holds(region: Region, ctx: PythonContext, loop: ast.stmt | None) -> bool:
    """Whether a loop runs inside a region (else each of its rounds has a region of its own)."""
    if loop is None:
        return False
    local = isinstance(region.holder, WITHS) and ctx.scope(region.holder) is ctx.scope(loop)
    return not local or region.holder in ctx.ancestors(loop)


def is_step(ctx: PythonContext, function: Function) -> bool:
    """Whether a function is the `training_step` of a LightningModule, or a closure in it."""
    method = ctx.method(function)
    if method is None or method.name != "training_step":
        return False
    return ctx.index.descends(method.owner, LIGHTNING_MODULE) is True


def trainer_precision(ctx: PythonContext) -> str:
    """What the project's Trainers say: `mixed`, `chosen` by a run, `several` things, `none`, or `unknown`."""
    answers = set(_precisions(ctx))
    if answers & {"mixed", "scaled"}:
        return "mixed" if answers <= {"mixed", "scaled"} else "several"
    return "chosen" if "chosen" in answers else "none" if answers == {"none"} else "unknown"


def scales_losses(ctx: PythonContext) -> Answer:
    """Whether a Trainer of the project has a gradient scaler: one in 16-bit precision, and not in bfloat16.

    `no` where no Trainer in sight says so; unknown where a run chooses.
    """
    chosen: Evidence | None = None
    for path, setting in ctx.index.settings(ctx.path):
        said = {*_said(ctx, path, setting)}
        if "scaled" in said:
            return yes()
        if "chosen" in said:
            chosen = chosen or Evidence(path, setting.line, "the precision is chosen by a run")
    return unknown(chosen) if chosen is not None else no()


@question
def every_trainer_scales(ctx: PythonContext) -> Answer:
    """Whether all Trainers of the project have a gradient scaler of Lightning's own; no where none has.

    Unknown where one has another precision, or a strategy with a scaler of its own: which Trainer runs a module is not
    told (`two_trainers`).
    """
    scales, doubts = False, []
    for path, setting in ctx.index.settings(ctx.path):
        said = {*_said(ctx, path, setting)}
        scales = scales or bool(said & {"scaled", "chosen"})
        if said and said != {"scaled"}:
            doubts.append(Evidence(path, setting.line, "this Trainer may have another precision"))
        strategy = setting.call.keywords.get("strategy")
        if said and strategy is not None and strategy.literal not in _PLAIN_STRATEGIES:
            doubts.append(Evidence(path, setting.line, "this strategy may scale and clip in its own way"))
    return unless(doubts) if scales else no()


def _precisions(ctx: PythonContext) -> Iterator[str]:
    """What each Trainer of the project says: `scaled`, `mixed`, `none`, or `chosen` where only a run can tell."""
    for path, setting in ctx.index.settings(ctx.path):
        yield from _said(ctx, path, setting)


def _said(ctx: PythonContext, path: str, setting: Setting) -> Iterator[str]:
    name = (setting.call.dotted or "").rpartition(".")[2]
    if name == "LightningCLI":
        yield "unknown"
    elif name == "MixedPrecision":
        given = setting.call.keywords.get("precision") or next(iter(setting.call.args), None)
        yield "scaled" if given is not None and given.literal in _SCALED else "chosen"
    elif name == "Trainer" and ctx.index.resolve(path, setting.call.dotted or "") <= LIGHTNING_TRAINER:
        given = setting.call.keywords.get("precision")
        if given is None:
            yield "chosen" if setting.call.splat else "none"
        elif (place := setting.call.keywords.get("accelerator")) is not None and place.literal == "cpu":
            yield "mixed" if given.literal in _MIXED else "none"  # bfloat16 there (`on_the_cpu`)
        elif isinstance(given.literal, (int, str)) or given.literal is None:
            yield "scaled" if given.literal in _SCALED else "mixed" if given.literal in _MIXED else "none"
        else:
            yield "chosen"


def callers(ctx: PythonContext, function: Function) -> Sequence[tuple[PythonContext, ast.Call]]:
    """The calls in the project that surely run a function; elsewhere only in files in which regions begin.

    A `training_step` is run by its Trainer.
    """
    key = (callers, function)
    if key not in ctx.memo:
        found = [(ctx, call) for call in callers_here(ctx, function)]
        hidden = function.name in _UNNAMED or isinstance(ctx.scope(function), FUNCTIONS) or is_step(ctx, function)
        for path in () if hidden else beginnings(ctx):
            facts = ctx.index.facts(path)
            if facts is not None and function.name in facts.called:
                found += callers_in(ctx, path, function)
        ctx.memo[key] = found
    known: list[tuple[PythonContext, ast.Call]] = ctx.memo[key]
    return known


def named_where_regions_open(ctx: PythonContext, name: str) -> bool:
    """Whether a file of the project that names autocast names something else, too."""
    paths = ctx.index.search(ctx.path, (b"autocast",))

    def named() -> bool:
        return any(
            _names(facts, "autocast") and _names(facts, name) for facts in filter(None, map(ctx.index.facts, paths))
        )

    return ctx.index.recall((named_where_regions_open, paths, name), named)


def _names(facts: Facts, name: str) -> bool:
    """Whether a file uses, defines or imports a name."""
    if name in facts.loads or name in facts.called or name in facts.classes:
        return True
    if name in facts.functions or name in facts.mentioned:
        return True
    return any(name in (i.name, i.target.rpartition(".")[2]) for i in facts.imports)


def keeps_by_hand(ctx: PythonContext) -> bool:
    """Whether a file switches the weight cache itself: `torch.set_autocast_cache_enabled(False)`."""
    return bool(named_calls(ctx, "set_autocast_cache_enabled"))


def evaluates(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether the functions around a node say by their names that nothing is trained in them."""
    return any(isinstance(a, FUNCTIONS) and EVALUATES.match(a.name) for a in ctx.ancestors(node))


def unknown_managers(ctx: PythonContext, node: ast.AST, depth: int = 0) -> Iterator[Evidence]:
    """The context managers around a node that may do anything.

    Args:
        depth: how far callers are followed.
    """
    for manager in ctx.regions(node):
        entered = manager.entered
        if opening(ctx, entered) is None and not grad_mode(ctx, entered) and library_values(ctx, entered) is None:
            says = f"`{ctx.written(entered)}` may switch autocast or gradients"
            yield where_defined(ctx, entered, says, at=entered)
    scope = ctx.scope(node)
    for where, call in callers(ctx, scope) if depth and isinstance(scope, FUNCTIONS) else ():
        yield from unknown_managers(where, call, depth - 1)
