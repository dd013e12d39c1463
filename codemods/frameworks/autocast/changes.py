"""What writes a module's weights in place: optimizer and scaler steps, loaded states, copy loops; and whose weights."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis.calls import argument, literal, named_calls, values
from codemods.analysis.optimizers import optimizes, stepped, uses_of
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import expressions, possible_values, run_by
from codemods.flow.answers import Answer, no, question, unknown, unless
from codemods.frameworks.autocast.modules import Path, is_module, overlap, path_of, written
from codemods.frameworks.autocast.uses import Use, uses
from codemods.model.edits import Evidence
from codemods.model.names import GRAD_SCALER
from codemods.project.index import Ref
from codemods.syntax.module import is_none, own

_WRITES = ("copy_", "mul_", "add_", "lerp_", "sub_", "fill_")


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A statement that writes weights."""

    node: ast.AST
    what: str
    """How to name it: `optimizer.step()`."""
    paths: tuple[Path, ...] | None
    """The modules whose weights are written; None: unknown."""
    one_of_several: bool = False
    """Several optimizers of different weights may be meant, and only one of them is stepped."""
    closure: ast.expr | None = None
    """What a step is given to run between two writes (`closure`)."""

    def may_write(self, path: Path) -> bool:
        """Whether the weights of `path` may be among those written."""
        return self.paths is None or any(overlap(p, path) for p in self.paths)


@question
def writes_these_weights(ctx: PythonContext, change: WeightChange, path: Path) -> Answer:
    """Whether the weights that a step writes are those of a module that runs again."""
    if change.paths is not None and not (change.one_of_several and change.may_write(path)):
        return unless(_of_the_project(ctx, change.node)) if change.may_write(path) else no()
    if change.paths is None and is_alone(ctx, change.node):
        return unless(_of_the_project(ctx, change.node))
    node = change.node
    assert isinstance(node, (ast.expr, ast.stmt))
    return unknown(ctx.evidence(node, f"`{change.what}` may write other weights than those of `{written(path)}`"))


def _of_the_project(ctx: PythonContext, node: ast.AST) -> Iterator[Evidence]:
    """The places that say which weights an optimizer of the project holds, or what its `step` does with them."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "step":
        return
    if isinstance(maker := node.func.value, ast.Call) and run_by(ctx, maker):
        yield ctx.evidence(maker, "which optimizer this gives is not known")
    optimizer = _stepped(ctx, node, node.func.value)
    for where, made in expressions(ctx, optimizer) if optimizer is not None else ():
        if isinstance(made, ast.Call):
            yield from _own_steps(where, made)
            yield from _chosen_weights(where, made)
            if run_by(where, made):
                yield where.evidence(made, "which optimizer this gives is not known")


def _own_steps(ctx: PythonContext, made: ast.Call) -> Iterator[Evidence]:
    """The `step` of an optimizer whose class is one of the project."""
    for name in ctx.origin(made.func):
        path, inside, qualified = name.partition(":")
        found = ctx.method_of(Ref(path, qualified), "step") if inside else None
        if found is not None:
            where, step = found
            yield where.evidence(step, "this `step` may put new weights in the place of the old ones")


def _chosen_weights(ctx: PythonContext, made: ast.Call) -> Iterator[Evidence]:
    """Where functions of the project choose what an optimizer is given."""
    targets = (target for given in values(made) if isinstance(given, ast.Call) for target in run_by(ctx, given))
    for where, function in targets:
        for end in own(function):
            if isinstance(end, (ast.Return, ast.Yield)):
                yield where.evidence(end, "this may give the optimizer other weights")


def is_alone(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether the function of a step has one optimizer that is stepped, and runs one module with gradients."""
    scope = ctx.scope(node)
    key = (is_alone, scope)
    if key not in ctx.memo:
        calls = [n for n in own(scope) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
        steps = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "step"]
        given = [_stepped(ctx, c, c.func.value) for c in steps if isinstance(c.func, ast.Attribute)]
        optimizers = {ast.unparse(each) for each in given if each is not None}
        modules = {use.path for use in uses(ctx, scope) if not use.off}
        ctx.memo[key] = len(optimizers) == 1 and len(modules) == 1
    return bool(ctx.memo[key])


def change(ctx: PythonContext, node: ast.AST) -> WeightChange | None:
    """What a call or a loop writes in place, if it surely does."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="step")):
            if node.args and isinstance(node.args[0], ast.Starred):
                return None
            optimizer = _stepped(ctx, node, owner)
            if optimizer is None:
                return None
            if isinstance(optimizer, ast.Subscript) and modules_of(ctx, optimizer) is None:
                return None  # one of several, and which weights it holds is not in sight
            several = len({*_alternatives(ctx, optimizer)}) > 1
            closure = next((each for each in values(node) if each is not optimizer and not is_none(each)), None)
            return WeightChange(node, f"{ctx.written(owner)}.step()", modules_of(ctx, optimizer), several, closure)
        case ast.Call(func=ast.Attribute(value=owner, attr="load_state_dict")) if is_module(ctx, owner) is True:
            path = path_of(ctx, owner)
            return WeightChange(node, f"{ctx.name(owner)}.load_state_dict()", (path,)) if path else None
        case ast.For():
            return _copied(ctx, node)
    return None


def _copied(ctx: PythonContext, loop: ast.For) -> WeightChange | None:
    """`for p, q in zip(a.parameters(), b.parameters()): p.data.copy_(q.data)`"""
    iterated, target = loop.iter, loop.target
    zipped = isinstance(iterated, ast.Call) and ctx.name(iterated.func) == "zip"
    sources = values(iterated) if zipped and isinstance(iterated, ast.Call) else [iterated]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    if len(sources) != len(targets):
        return None
    for each, source in zip(targets, sources, strict=True):
        match source:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters")):
                path = path_of(ctx, owner)
            case _:
                continue
        if path is None:
            continue
        for node in own(loop):
            match node:
                case ast.Call(func=ast.Attribute(value=changed, attr=name)) if name in _WRITES:
                    if ctx.name(changed) in (ctx.name(each), f"{ctx.name(each)}.data"):
                        return WeightChange(loop, f"the loop over {ctx.name(owner)}.parameters()", (path,))
    return None


def _stepped(ctx: PythonContext, call: ast.Call, owner: ast.expr) -> ast.expr | None:
    """The optimizer that a call steps, itself or by way of a scaler; None: none, or another thing than an optimizer."""
    given = argument(call, "optimizer", 0)
    if given is not None and (ctx.is_a(owner, GRAD_SCALER) or _is_a_scaler(ctx, owner)):
        return given
    if _handed_out(ctx, owner) is not None:
        return owner
    receiver = stepped(ctx, call)
    return receiver if receiver is not None and optimizes(ctx, receiver) else None


def _is_a_scaler(ctx: PythonContext, owner: ast.expr) -> bool:
    """Whether a value is used as a gradient scaler is."""
    name = ctx.name(owner)
    return name is not None and bool(uses_of(ctx, owner, name) & {"scale", "unscale_", "update"})


def _handed_out(ctx: PythonContext, node: ast.expr) -> int | None:
    """Which of `self.optimizers()` a name is: its place in the unpacking, -1 for all of them."""
    for each in possible_values(ctx, node)[0]:
        if isinstance(each.node, ast.Call) and (each.ctx.name(each.node.func) or "").endswith(".optimizers"):
            match each.path:
                case ():
                    return -1
                case (int(place),) if place >= 0:
                    return place
            return None
    return None


# -- whose weights


def modules_of(ctx: PythonContext, optimizer: ast.expr) -> tuple[Path, ...] | None:
    """The modules whose parameters an optimizer was given; None where that is not in sight."""
    if isinstance(optimizer, ast.Subscript) and not isinstance(literal(optimizer.slice), int):
        return None  # one of several
    place = _handed_out(ctx, optimizer)
    if place is not None:
        return _configured(ctx, optimizer, place)
    given = _alternatives(ctx, optimizer)
    return tuple(path for paths in given for path in paths) if given and all(given) else None


def _alternatives(ctx: PythonContext, optimizer: ast.expr) -> list[tuple[Path, ...]]:
    """The modules whose parameters each optimizer that may be meant was given."""
    return [tuple(_owners(where, value)) for where, value in expressions(ctx, optimizer)]


def trainable(ctx: PythonContext, scope: ast.AST) -> list[Use]:
    """The runs of weights in a function, but those that Lightning's `toggle_optimizer` may have frozen."""
    key = (trainable, scope)
    if key not in ctx.memo:
        ctx.memo[key] = [use for use in uses(ctx, scope) if not toggled_off(ctx, use.node, use.path)]
    found: list[Use] = ctx.memo[key]
    return found


def toggled_off(ctx: PythonContext, node: ast.AST, path: Path) -> bool:
    """Whether Lightning's `toggle_optimizer` may have frozen `path` where a node runs: then nothing is cached."""
    toggles = named_calls(ctx, "toggle_optimizer", "untoggle_optimizer")
    if not toggles:
        return False
    scope = ctx.scope(node)
    flow = ctx.flow_of(scope)
    here = [c for c in toggles if ctx.scope(c) is scope]
    before = [c for c in here if flow.stands_before(c, node)]
    if not before:
        return len(here) < len(toggles)
    last = before[-1]
    if (ctx.name(last.func) or "").endswith(".untoggle_optimizer"):
        return False
    given = argument(last, "optimizer", 0)
    paths = modules_of(ctx, given) if given is not None else None
    return paths is None or not any(overlap(p, path) for p in paths)


def _owners(ctx: PythonContext, value: ast.expr, depth: int = 2) -> Iterator[Path]:
    """`X` of every `X.parameters()` in the arguments of a constructor, also by way of a variable."""
    for node in own(value):
        match node:
            case ast.Name() if depth and _is_argument(ctx, node):
                for where, given in expressions(ctx, node):
                    yield from _owners(where, given, depth - 1)
                    if isinstance(given, ast.Call):
                        yield from _owned(where, given)
            case ast.Call():
                yield from _owned(ctx, node)


def _is_argument(ctx: PythonContext, node: ast.expr) -> bool:
    parent = ctx.parent(node)
    return isinstance(parent, (ast.keyword, ast.Starred)) or (isinstance(parent, ast.Call) and parent.func is not node)


def _owned(ctx: PythonContext, call: ast.Call) -> Iterator[Path]:
    """`X` of `X.parameters()`."""
    match call.func:
        case ast.Attribute(value=owner, attr="parameters" | "named_parameters"):
            if (path := path_of(ctx, owner)) is not None:
                yield path


def _configured(ctx: PythonContext, node: ast.AST, place: int) -> tuple[Path, ...] | None:
    """What `configure_optimizers` gives the optimizer at one place of what it returns."""
    method = ctx.method(node)
    owner = ctx.index.method(method.owner, "configure_optimizers") if method else None
    where = ctx.other(owner.path) if owner else None
    found = where.definition(f"{owner.name}.configure_optimizers") if where and owner else None
    if found is None or where is None:
        return None
    returned = [n.value for n in own(found[1]) if isinstance(n, ast.Return) and n.value is not None]
    given = {_of_one(where, value, place) for value in returned}
    return given.pop() if len(given) == 1 else None


def _of_one(where: PythonContext, value: ast.expr, place: int) -> tuple[Path, ...] | None:
    """What one `return` of `configure_optimizers` gives the optimizer at a place."""
    if isinstance(value, (ast.Tuple, ast.List)) and value.elts and isinstance(value.elts[0], (ast.Tuple, ast.List)):
        value = value.elts[0]
    chosen = [value]
    if isinstance(value, (ast.Tuple, ast.List)):
        chosen = value.elts if place < 0 else value.elts[place : place + 1]
    paths: list[Path] = []
    for each in chosen:
        made = expressions(where, each) or [(where, each)]
        owners = [path for w, v in made for path in _owners(w, v)]
        if not owners:
            return None
        paths += owners
    return tuple(paths) or None
