"""Loops over epochs, the passes over data that run in them, and the samplers of these passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import argument, binder, given, given_by, has_splat, literal, values
from codemods.analysis.mentions import Occurrence, mentions, stores
from codemods.analysis.optimizers import optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import Given, PossibleValue, possible_values
from codemods.flow.answers import Answer, no, question, unknown, unless, yes
from codemods.model.edits import Evidence
from codemods.project.index import Ref
from codemods.syntax.module import Function

SAMPLER = frozenset({"torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler"})
LOADER = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_AROUND = frozenset({"enumerate", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.std.tqdm"})
_COUNTS = frozenset({"range", "itertools.count", "tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange"})
_HARMLESS = (
    _AROUND
    | LOADER
    | frozenset(
        {"len", "print", "iter", "next", "zip", "isinstance", "hasattr", "getattr", "type", "id", "bool", "repr", "str"}
    )
)
_ORDERING = ("randperm", "shuffle", "permutation")
"""Functions that give rows another order."""
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Made:
    """A call that makes an object, and its file."""

    ctx: PythonContext
    call: ast.Call

    def is_among(self, ctx: PythonContext, node: ast.expr) -> bool:
        """Whether an expression may be this object."""
        found, _ = possible_values(ctx, node, returns=True, given=given)
        return any(each.node is self.call and not each.path for each in found)


@dataclass(frozen=True, slots=True)
class Site:
    """A call that is followed into a function."""

    ctx: PythonContext
    call: ast.Call
    where: PythonContext
    function: Function


@dataclass(frozen=True, slots=True)
class Pass:
    """A loop with a backward pass, and the calls that lead from a round of a loop over epochs to it."""

    ctx: PythonContext
    loop: ast.For
    sites: tuple[Site, ...]

    def loaders(self) -> list[Made]:
        """The data loaders that it may run over; none where it may run over something else."""
        return _loaders(self.ctx, self.loop.iter, self.sites) or []


def counts_epochs(ctx: PythonContext, loop: ast.For | ast.While, calls: Given | None = None) -> bool:
    """Whether the rounds of a loop are counted or tested, and may be several; with `calls`, whoever calls it."""
    if isinstance(loop, ast.While):
        return True
    counter = _counter(ctx, loop.iter)
    if not isinstance(counter, ast.Call) or not _is_one_of(ctx, counter.func, _COUNTS):
        return False
    if ctx.means(counter.func, "itertools.count"):
        return True
    limits = [_number(ctx, each, calls) for each in counter.args]
    start, end = limits[:2] if len(limits) > 1 else (0, *limits, None)[:2]
    return start is None or end is None or end - start > 1


def _counter(ctx: PythonContext, node: ast.expr) -> ast.expr:
    """What a loop counts with: through a name (`with_a_named_counter`), and through what shows progress."""
    for _ in range(_DEPTH):
        if isinstance(node, ast.Name):
            found, complete = possible_values(ctx, node, ordered=True)
            here = [each.node for each in found if isinstance(each.node, ast.Call) and not each.path]
            if not complete or len(found) != 1 or not here or found[0].ctx is not ctx:
                return node
            node = here[0]
        elif isinstance(node, ast.Call) and node.args and _is_one_of(ctx, node.func, _AROUND):
            node = node.args[0]
        else:
            break
    return node


@question
def rounds_are_epochs(ctx: PythonContext, loop: ast.For | ast.While) -> Answer:
    """Whether the rounds of a loop are counted: those of a `while` may be tries or steps."""
    if isinstance(loop, ast.For):
        return yes()
    return unknown(ctx.evidence(loop.test, "these rounds may be no epochs"))


def _is_one_of(ctx: PythonContext, function: ast.expr, names: frozenset[str]) -> bool:
    """Whether a function is one of these, of Python or of a library."""
    if isinstance(function, ast.Name) and function.id in names and not ctx.origin(function):
        return binder(ctx, function.id, function) is None
    return ctx.means(function, names)


def _number(ctx: PythonContext, node: ast.expr, calls: Given | None) -> float | None:
    """The one number that an expression is."""
    found, complete = possible_values(ctx, node, given=calls)
    value = literal(found[0].node) if complete and len(found) == 1 and not found[0].path else None
    return value if isinstance(value, int | float) else None


def passes(ctx: PythonContext, body: Sequence[ast.stmt], sites: tuple[Site, ...] = ()) -> Iterator[Pass]:
    """The passes of one round: those that stand in no other loop, here and in the functions that are called."""
    for node in _of_a_round(body):
        if isinstance(node, ast.For):
            if isinstance(node.iter, ast.List | ast.Tuple):  # `for phase in ("train", "val")` (in_phases)
                yield from passes(ctx, node.body, sites)
            elif _trains(ctx, node.body) or _is_handed_on(node):
                yield Pass(ctx, node, sites)
        elif len(sites) < _DEPTH and (found := ctx.callee(node)) is not None:
            yield from passes(found[0], found[1].body, (*sites, Site(ctx, node, *found)))


def _of_a_round(body: Sequence[ast.AST]) -> Iterator[ast.For | ast.Call]:
    for node in body:
        if isinstance(node, ast.For | ast.Call):
            yield node
        if not isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Lambda | Function | ast.ClassDef):
            yield from _of_a_round(list(ast.iter_child_nodes(node)))


def _is_handed_on(loop: ast.For) -> bool:
    """Whether a generator hands on what a pass takes, and trains nothing itself (`endless_generator`)."""
    match loop:
        case ast.For(target=ast.Name(id=taken), body=[ast.Expr(value=ast.Yield(value=ast.Name(id=given)))]):
            return taken == given
    return False


def _trains(ctx: PythonContext, body: Sequence[ast.stmt], depth: int = _DEPTH) -> bool:
    """Whether statements run a backward pass."""
    calls = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    if any(isinstance(call.func, ast.Attribute) and call.func.attr == "backward" for call in calls):
        return True
    followed = (ctx.callee(call) for call in calls) if depth else ()
    return any(found is not None and _trains(found[0], found[1].body, depth - 1) for found in followed)


def _held(ctx: PythonContext, node: ast.expr, calls: Given | None) -> tuple[list[PossibleValue], bool]:
    """What an expression may be where it stands; for an attribute, what it may be at any time."""
    found, complete = possible_values(ctx, node, ordered=True, returns=True, given=calls)
    held: list[PossibleValue] = []
    for each in found:
        if isinstance(each.node, ast.Attribute) and not each.path:
            # who makes the object gives it, whoever calls the method (given_to_a_class)
            further, whole = possible_values(each.ctx, each.node, returns=True, given=given)
            held, complete = [*held, *further], complete and whole
        else:
            held.append(each)
    return held, complete


def _loaders(ctx: PythonContext, node: ast.expr, sites: tuple[Site, ...]) -> list[Made] | None:
    made: list[Made] = []
    found, complete = _held(ctx, node, None if sites else given)
    for value in found:
        further: list[Made] | None = None
        match value.node:
            case ast.Constant(value=None):
                further = []
            case ast.Call(func=func) as call if not value.path and value.ctx.means(func, LOADER):
                further = [Made(value.ctx, call)]
            case ast.Call(func=func, args=[inner, *_]) if not value.path and _is_one_of(value.ctx, func, _AROUND):
                further = _loaders(value.ctx, inner, sites)
            case ast.Name(id=name) as parameter if sites and value.ctx.function(parameter) is sites[-1].function:
                site = sites[-1]
                handed = given_by(site.where, site.call, site.function, name)
                further = _loaders(site.ctx, handed, sites[:-1]) if handed is not None else None
        if further is None:
            return None
        made += further
    return made if complete or sites else None


def samplers(loader: Made) -> tuple[list[Made], bool]:
    """The samplers for several processes that a loader may have; True: it surely has this one."""
    given_sampler = argument(loader.call, "sampler", 3)
    if given_sampler is None:
        return [], False
    found, complete = _held(loader.ctx, given_sampler, given)
    made = [
        Made(each.ctx, each.node)
        for each in found
        if isinstance(each.node, ast.Call) and not each.path and each.ctx.means(each.node.func, SAMPLER)
    ]
    return made, complete and len(made) == len(found) == 1


def begins_anew(ctx: PythonContext, loop: ast.For | ast.While, sampler: Made) -> bool:
    """Whether a round has an optimizer of its own, or a sampler that may differ from the one before."""
    inside = [node for statement in loop.body for node in ast.walk(statement)]
    if any(isinstance(node, ast.Assign) and optimizes(ctx, node.value) for node in inside):
        return True
    if sampler.call not in inside:
        return _runs(ctx, loop.body, sampler.call, _DEPTH)
    bound = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    parts = [node for value in values(sampler.call) for node in ast.walk(value)]
    seed = argument(sampler.call, "seed", 4)
    return (
        any(isinstance(node, ast.Call) or (isinstance(node, ast.Name) and node.id in bound) for node in parts)
        or has_splat(sampler.call)
        or (seed is not None and literal(seed) is None)
    )


def _runs(ctx: PythonContext, body: Sequence[ast.stmt], call: ast.Call, depth: int) -> bool:
    inside = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)]
    if any(node is call for node in inside):
        return True
    followed = (ctx.callee(node) for node in inside) if depth else ()
    return any(found is not None and _runs(found[0], found[1].body, call, depth - 1) for found in followed)


@question
def sampler_shuffles(sampler: Made) -> Answer:
    """Whether a sampler for several processes is told nothing else than to shuffle."""
    shuffle = argument(sampler.call, "shuffle", 3)
    if shuffle is None:
        hidden = "`shuffle=False` may be among these arguments"
        return unless([sampler.ctx.evidence(sampler.call, hidden)] if has_splat(sampler.call) else [])
    found, complete = possible_values(sampler.ctx, shuffle, given=given)
    told = [bool(each.node.value) for each in found if isinstance(each.node, ast.Constant) and not each.path]
    if complete and len(told) == len(found) and len(set(told)) == 1:
        return yes() if told[0] else no()
    return unknown(sampler.ctx.evidence(shuffle, f"`{sampler.ctx.written(shuffle)}` may be false"))


@question
def nobody_sets_the_epoch(ctx: PythonContext, sampler: Made, loader: Made) -> Answer:
    """Whether nothing in the program tells a sampler which epoch it is."""
    places: list[Evidence] = []
    for mention in (*mentions(ctx, "set_epoch"), *stores(ctx, "epoch", "seed")):
        told = _is_told(mention, sampler)
        if told:
            return no(mention.ctx.evidence(mention.node, "sets the epoch"))
        if told is None:
            places.append(mention.ctx.evidence(mention.node, "may set the epoch of this sampler"))
    return unless([*places, *_handed_away(ctx, sampler, loader)])


@question
def rows_stay_in_order(ctx: PythonContext, loop: ast.For | ast.While, sampler: Made) -> Answer:
    """Whether nothing in a round of epochs may put the rows of a dataset in another order itself (`own_order`)."""
    dataset = argument(sampler.call, "dataset", 0)
    name = sampler.ctx.name(dataset) if dataset is not None else None
    if dataset is None or name is None:
        return yes()
    places = [
        each.evidence("this may put the rows in another order")
        for each in mentions(ctx, *_ORDERING)
        if any(klass.path == each.ctx.path for klass in _classes(sampler.ctx, dataset))
    ]
    for node in ast.walk(loop) if sampler.ctx is ctx else ():
        if isinstance(node, ast.Name | ast.Attribute) and ctx.name(node) == name and not _is_counted(ctx, node):
            places.append(ctx.evidence(node, f"`{name}` may be put in another order here"))
    return unless(places)


def _classes(ctx: PythonContext, dataset: ast.expr) -> Iterator[Ref]:
    """The classes of the project that a dataset may be of."""
    for each in possible_values(ctx, dataset, returns=True, given=given)[0]:
        if isinstance(each.node, ast.Call) and not each.path:
            yield from (Ref.of(origin) for origin in each.ctx.origin(each.node.func) if ":" in origin)


def _is_counted(ctx: PythonContext, node: ast.expr) -> bool:
    """Whether a place asks only how long something is, or gives it to a loader or a sampler."""
    call = ctx.parent(node)
    if isinstance(call, ast.keyword):
        call = ctx.parent(call)
    return isinstance(call, ast.Call) and call.func is not node and _is_one_of(ctx, call.func, _HARMLESS | SAMPLER)


def _is_told(mention: Occurrence, sampler: Made) -> bool | None:
    """Whether a place speaks of this sampler; None: it cannot be told."""
    ctx, receiver = mention.ctx, mention.receiver
    if receiver is None:
        parent = ctx.parent(mention.node)
        followed = isinstance(parent, ast.Call) and ctx.callee(parent) is not None
        return False if isinstance(mention.node, ast.stmt) or followed else None
    method = ctx.method(mention.node)
    if isinstance(receiver, ast.Name) and method is not None and method.self == receiver.id:
        return False
    if sampler.is_among(ctx, receiver):
        return True
    if isinstance(receiver, ast.Attribute) and receiver.attr == "sampler":
        match receiver.value:
            case ast.Attribute(value=owner, attr="batch_sampler") | owner:
                loaders = _loaders(ctx, owner, ())
        if any(made.call is sampler.call for loader in loaders or () for made in samplers(loader)[0]):
            return True
        if loaders:
            return False
    kind = instances.of(ctx, receiver)
    if kind is not None and not kind.names & SAMPLER:
        return False
    found, complete = possible_values(ctx, receiver, returns=True, given=given)
    others = [each for each in found if isinstance(each.node, ast.Call) and each.ctx.means(each.node.func, SAMPLER)]
    return False if complete and len(others) == len(found) else None


def _handed_away(ctx: PythonContext, sampler: Made, loader: Made) -> Iterator[Evidence]:
    """Calls of functions out of sight that get the sampler or its loader."""
    for where in {id(each): each for each in (ctx, sampler.ctx, loader.ctx)}.values():
        for call in where.all(ast.Call):
            if _is_one_of(where, call.func, _HARMLESS) or where.callee(call) or _is_of_the_project(where, call):
                continue
            for value in values(call):
                if isinstance(value, ast.Name | ast.Attribute) and (
                    sampler.is_among(where, value) or loader.is_among(where, value)
                ):
                    yield where.evidence(call, f"`{where.written(call.func)}` may set the epoch")


def _is_of_the_project(ctx: PythonContext, call: ast.Call) -> bool:
    origins = ctx.origin(call.func)
    return bool(origins) and all(":" in origin for origin in origins)
