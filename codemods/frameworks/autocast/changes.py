"""What writes a module's weights in place: optimizer and scaler steps, loaded states, copy loops; and whose weights."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.frameworks.autocast.modules import Path, is_module, overlap, path_of
from codemods.frameworks.autocast.openings import values
from codemods.model.names import GRAD_SCALER, OPTIMIZER
from codemods.project.index import Ref
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.rewrite import argument

_OPTIMIZER = re.compile(r"_*(?:\w+_)?(?:opt|optim|optimizer)(?:_\w+|\d*)|\w*[Oo]ptimizer\w*")
_SCALER = re.compile(r"_*(?:\w+_)?(?:grad_?)?scaler\w*", re.IGNORECASE)
_WRITES = ("copy_", "mul_", "add_", "lerp_", "sub_", "fill_")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_VAGUE = {"opt", "optim", "optimizer", "optimizers", "self", "the", "main"}


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that writes weights."""

    node: cst.CSTNode
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


def change(ctx: Context, node: cst.CSTNode) -> Change | None:
    """What a call or a loop writes in place, if it surely does."""
    match node:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("step")), args=args):
            optimizer: cst.BaseExpression | None = owner
            if args and (ctx.is_a(owner, GRAD_SCALER) or _by_name(ctx, owner, _SCALER)):
                optimizer = args[0].value
            if args and args[0].star:
                return None
            if optimizer is None or not _is_optimizer(ctx, optimizer):
                return None
            if isinstance(optimizer, cst.Subscript) and _trained(ctx, optimizer) is None:
                return None  # one of several, and which weights it holds is not in sight
            words = {w.lower() for w in _WORDS.findall((ctx.name(optimizer) or "").rpartition(".")[2])} - _VAGUE
            return Change(node, f"{ctx.name(owner)}.step()", _trained(ctx, optimizer), frozenset(words))
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("load_state_dict"))) if is_module(ctx, owner):
            path = path_of(ctx, owner)
            return Change(node, f"{ctx.name(owner)}.load_state_dict()", (path,)) if path else None
        case cst.For(target=target, iter=iterated, body=body):
            return _copied(ctx, node, target, iterated, body)
        case _:
            return None


def _copied(
    ctx: Context, loop: cst.For, target: cst.BaseExpression, iterated: cst.BaseExpression, body: cst.BaseSuite
) -> Change | None:
    """`for p, q in zip(a.parameters(), b.parameters()): p.data.copy_(q.data)`"""
    sources = (
        [a.value for a in iterated.args]
        if isinstance(iterated, cst.Call) and ctx.name(iterated.func) == "zip"
        else [iterated]
    )
    targets = [e.value for e in target.elements] if isinstance(target, cst.Tuple) else [target]
    if len(sources) != len(targets):
        return None
    for each, source in zip(targets, sources, strict=True):
        match source:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("parameters"))):
                path = path_of(ctx, owner)
            case _:
                continue
        if path is None:
            continue
        for node in flow.own(body):
            match node:
                case cst.Call(func=cst.Attribute(value=written, attr=cst.Name(value=name))) if name in _WRITES:
                    if ctx.name(written) in (ctx.name(each), f"{ctx.name(each)}.data"):
                        return Change(loop, f"the loop over {ctx.name(owner)}.parameters()", (path,))
    return None


def _by_name(ctx: Context, node: cst.CSTNode, pattern: re.Pattern[str]) -> bool:
    if isinstance(node, cst.Subscript):
        node = node.value
    name = ctx.name(node)
    return ctx.kind(node) is None and name is not None and pattern.fullmatch(name.rpartition(".")[2]) is not None


def _is_optimizer(ctx: Context, node: cst.BaseExpression) -> bool:
    kind = ctx.kind(node)
    if kind is not None:
        return all(_is_optimizer_class(ctx, name) for name in kind.names)
    return _handed_out(ctx, node) is not None or _by_name(ctx, node, _OPTIMIZER)


def _is_optimizer_class(ctx: Context, name: str) -> bool:
    if ":" in name:
        path, _, klass = name.partition(":")
        return ctx.index.descends(Ref(path, klass), OPTIMIZER) is True
    return (name.startswith("torch.optim.") and "lr_scheduler" not in name) or name == "transformers.AdamW"


def _handed_out(ctx: Context, node: cst.BaseExpression) -> int | None:
    """Which of `self.optimizers()` a name is: its place in the unpacking, -1 for all of them."""
    for binding in ctx.assigned(node) or []:
        match binding.node:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=cst.Call(func=func)):
                if (ctx.name(func) or "").endswith(".optimizers"):
                    if isinstance(target, (cst.Tuple, cst.List)):
                        names = [ctx.name(e.value) for e in target.elements]
                        return names.index(ctx.name(node)) if ctx.name(node) in names else None
                    return -1
    return None


# -- whose weights


def _trained(ctx: Context, optimizer: cst.BaseExpression) -> tuple[Path, ...] | None:
    """The modules whose parameters an optimizer was given; None where that is not in sight."""
    if isinstance(optimizer, cst.Subscript):
        return _trained_by_item(ctx, optimizer)
    place = _handed_out(ctx, optimizer)
    if place is not None:
        return _configured(ctx, optimizer, place)
    given = values(ctx, optimizer)
    found = [path for where, value in given for path in _owners(where, value)]
    return tuple(found) if found and all(list(_owners(w, v)) for w, v in given) else None


def _trained_by_item(ctx: Context, item: cst.Subscript) -> tuple[Path, ...] | None:
    """The same for one optimizer of a list, taken by a literal index."""
    match item.slice:
        case [cst.SubscriptElement(slice=cst.Index(value=cst.Integer() as number))]:
            index = number.evaluated_value
        case _:
            return None
    if _handed_out(ctx, item.value) == -1:
        return _configured(ctx, item.value, index)
    for where, listed in values(ctx, item.value):
        if not isinstance(listed, (cst.List, cst.Tuple)) or index >= len(listed.elements):
            return None
        return tuple(_owners(where, listed.elements[index].value)) or None
    return None


def toggled_off(ctx: Context, node: cst.CSTNode, path: Path) -> bool:
    """Whether Lightning's `toggle_optimizer` may have frozen `path` where a node runs: then nothing is cached."""
    key = (toggled_off,)
    if key not in ctx.memo:
        ctx.memo[key] = ctx.named_calls("toggle_optimizer", "untoggle_optimizer")
    toggles: list[cst.Call] = ctx.memo[key]
    scope = ctx.scope(node)
    here = [c for c in toggles if ctx.scope(c) is scope]
    before = [c for c in here if flow.order(ctx.parents, c, node) is flow.Order.BEFORE]
    if not before:
        return len(here) < len(toggles)
    last = before[-1]
    if (ctx.name(last.func) or "").endswith(".untoggle_optimizer"):
        return False
    given = argument(last, "optimizer", 0)
    paths = _trained(ctx, given.value) if given is not None else None
    return paths is None or not any(overlap(p, path) for p in paths)


def _owners(ctx: Context, value: cst.BaseExpression, depth: int = 2) -> Iterator[Path]:
    """`X` of every `X.parameters()` in the arguments of a constructor, also by way of a variable."""
    for node in flow.own(value):
        match node:
            case cst.Name() if depth and isinstance(ctx.parent(node), cst.Arg):
                for where, given in values(ctx, node):
                    yield from _owners(where, given, depth - 1)
                    if isinstance(given, cst.Call):
                        yield from _owned(where, given)
            case cst.Call():
                yield from _owned(ctx, node)


def _owned(ctx: Context, call: cst.Call) -> Iterator[Path]:
    """`X` of `X.parameters()`."""
    match call:
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name("parameters" | "named_parameters"))):
            if (path := path_of(ctx, owner)) is not None:
                yield path


def _configured(ctx: Context, node: cst.BaseExpression, place: int) -> tuple[Path, ...] | None:
    """What `configure_optimizers` gives the optimizer at one place of what it returns."""
    method = ctx.method(node)
    owner = ctx.index.method(method.owner, "configure_optimizers") if method else None
    where = ctx.other(owner.path) if owner else None
    found = where.definition(f"{owner.name}.configure_optimizers") if where and owner else None
    if found is None or where is None:
        return None
    returned = [n.value for n in flow.own(found[1].body) if isinstance(n, cst.Return) and n.value is not None]
    if len(returned) != 1:
        return None
    value = returned[0]
    if isinstance(value, (cst.Tuple, cst.List)) and value.elements:
        if isinstance(value.elements[0].value, (cst.Tuple, cst.List)):
            value = value.elements[0].value
    chosen = [value]
    if isinstance(value, (cst.Tuple, cst.List)):
        chosen = [e.value for e in value.elements]
        chosen = chosen if place < 0 else chosen[place : place + 1]
    paths: list[Path] = []
    for each in chosen:
        made = [(where, each)] if isinstance(each, cst.Call) else values(where, each)
        owners = [path for w, v in made for path in _owners(w, v)]
        if not owners:
            return None
        paths += owners
    return tuple(paths) or None
