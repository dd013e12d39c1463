"""What writes a module's weights in place: optimizer and scaler steps, loaded states, copy loops; and whose weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import argument, literal, named_calls, values
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import expressions, possible_values
from codemods.frameworks.autocast.modules import Path, is_module, overlap, path_of
from codemods.frameworks.autocast.uses import Use, uses
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref
from codemods.syntax.module import own

_OPTIMIZER = re.compile(r"_*(?:\w+_)?(?:opt|optim|optimizer)(?:_\w+|\d*)|\w*[Oo]ptimizer\w*")
_SCALER = re.compile(r"_*(?:\w+_)?(?:grad_?)?scaler\w*", re.IGNORECASE)
_WRITES = ("copy_", "mul_", "add_", "lerp_", "sub_", "fill_")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_VAGUE = {"opt", "optim", "optimizer", "optimizers", "self", "the", "main"}


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A statement that writes weights."""

    node: ast.AST
    what: str
    """How to name it: `optimizer.step()`."""
    paths: tuple[Path, ...] | None
    """The modules whose weights are written; None: unknown."""
    words: frozenset[str] = frozenset()
    """What the name of the optimizer says of its module: `d` of `opt_d`."""

    def may_write(self, path: Path) -> bool:
        """Whether the weights of `path` may be among those written."""
        if self.paths is not None:
            return any(overlap(p, path) for p in self.paths)
        named = {word.lower() for word in _WORDS.findall(path[-1])}
        return not self.words or any(a.startswith(b) or b.startswith(a) for a in self.words for b in named)


def change(ctx: PythonContext, node: ast.AST) -> WeightChange | None:
    """What a call or a loop writes in place, if it surely does."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr="step")):
            optimizer = owner
            given = values(node)
            if given and (ctx.is_a(owner, GRAD_SCALER) or _by_name(ctx, owner, _SCALER)):
                optimizer = given[0]
            if node.args and isinstance(node.args[0], ast.Starred):
                return None
            if not _is_optimizer(ctx, optimizer):
                return None
            if isinstance(optimizer, ast.Subscript) and _trained(ctx, optimizer) is None:
                return None  # one of several, and which weights it holds is not in sight
            words = {w.lower() for w in _WORDS.findall((ctx.name(optimizer) or "").rpartition(".")[2])} - _VAGUE
            return WeightChange(node, f"{ctx.name(owner)}.step()", _trained(ctx, optimizer), frozenset(words))
        case ast.Call(func=ast.Attribute(value=owner, attr="load_state_dict")) if is_module(ctx, owner):
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
                case ast.Call(func=ast.Attribute(value=written, attr=name)) if name in _WRITES:
                    if ctx.name(written) in (ctx.name(each), f"{ctx.name(each)}.data"):
                        return WeightChange(loop, f"the loop over {ctx.name(owner)}.parameters()", (path,))
    return None


def _by_name(ctx: PythonContext, node: ast.expr, pattern: re.Pattern[str]) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    name = ctx.name(node)
    return (
        instances.of(ctx, node) is None and name is not None and pattern.fullmatch(name.rpartition(".")[2]) is not None
    )


def _is_optimizer(ctx: PythonContext, node: ast.expr) -> bool:
    kind = instances.of(ctx, node)
    if kind is not None:
        return all(_is_optimizer_class(ctx, name) for name in kind.names)
    return _handed_out(ctx, node) is not None or _by_name(ctx, node, _OPTIMIZER)


def _is_optimizer_class(ctx: PythonContext, name: str) -> bool:
    if ":" in name:
        path, _, klass = name.partition(":")
        return ctx.index.descends(Ref(path, klass), OPTIMIZER) is True
    return (name.startswith("torch.optim.") and "lr_scheduler" not in name) or name == "transformers.AdamW"


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


def _trained(ctx: PythonContext, optimizer: ast.expr) -> tuple[Path, ...] | None:
    """The modules whose parameters an optimizer was given; None where that is not in sight."""
    if isinstance(optimizer, ast.Subscript) and not isinstance(literal(optimizer.slice), int):
        return None  # one of several
    place = _handed_out(ctx, optimizer)
    if place is not None:
        return _configured(ctx, optimizer, place)
    given = [list(_owners(where, value)) for where, value in expressions(ctx, optimizer)]
    return tuple(path for paths in given for path in paths) if given and all(given) else None


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
    paths = _trained(ctx, given) if given is not None else None
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
    if len(returned) != 1:
        return None
    value = returned[0]
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
