"""Where checkpointed code runs: the file, what `self` is, and what the functions around were called with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import libcst as cst

from codemods.project.index import Ref
from codemods.rules.context import Context


class Unseen(Exception):
    """What runs cannot be told, or is known to misbehave; the argument says why, in words for a message."""


@dataclass(frozen=True, eq=False)
class Bound:
    """The arguments of one call by parameter; `open`: a splat may have given the others too."""

    values: Mapping[str, tuple[cst.BaseExpression, Frame]]
    open: bool = False


@dataclass(frozen=True)
class Instance:
    """An object of a project class; `made` holds the arguments of its constructor (None: `self`, made by anybody)."""

    ref: Ref
    made: Bound | None = None


@dataclass(frozen=True)
class Frame:
    """Where an expression is evaluated."""

    ctx: Context
    self: Instance | None = None
    calls: Mapping[cst.FunctionDef, Bound] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Code:
    """A function or lambda of the project, and where it is evaluated."""

    node: cst.FunctionDef | cst.Lambda
    frame: Frame


@dataclass(frozen=True)
class Library:
    """Something of a library: a function, or (with `call`) the object that a call of it makes."""

    origin: str
    call: cst.Call | None
    frame: Frame


Argument = tuple[cst.BaseExpression, Frame]
Part = Code | Instance | Library


def parameters(function: cst.FunctionDef | cst.Lambda) -> Iterator[cst.Param]:
    p = function.params
    yield from (*p.posonly_params, *p.params, *p.kwonly_params)
    yield from (each for each in (p.star_arg, p.star_kwarg) if isinstance(each, cst.Param))


def bind(call: cst.Call, function: cst.FunctionDef | None, frame: Frame, *, skip: int) -> Bound:
    """The arguments of a call by parameter, the first `skip` parameters (`self`) left out."""
    values: dict[str, Argument] = {}
    names = [p.name.value for p in (*function.params.posonly_params, *function.params.params)] if function else []
    names, splat = names[skip:], False
    for position, arg in enumerate(call.args):
        if arg.star:
            splat = True
        elif arg.keyword is not None:
            values[arg.keyword.value] = (arg.value, frame)
        elif not splat and position < len(names):
            values[names[position]] = (arg.value, frame)
    return Bound(values, splat)


def is_method(ctx: Context, function: cst.FunctionDef) -> bool:
    """Whether a function takes `self` (or `cls`) when it is called on an object."""
    plain = (d.decorator for d in function.decorators)
    return isinstance(ctx.scope(function), cst.ClassDef) and not any(ctx.name(d) == "staticmethod" for d in plain)


def written(ctx: Context, node: cst.CSTNode) -> str:
    """A node as it stands in the file, on one line, shortened for a message."""
    text = " ".join(ctx.module.code_for_node(node).split())
    return text if len(text) <= 40 else text[:37] + "…"


def looped(ctx: Context, loop: cst.For | cst.CompFor, name: str) -> cst.BaseExpression | None:
    """The container whose elements a loop gives to `name`: through `enumerate`, `zip`, `reversed`, `.items()`."""
    source: cst.BaseExpression = loop.iter
    target: cst.BaseExpression = loop.target
    while isinstance(source, cst.Call):
        args = [a.value for a in source.args if a.keyword is None and not a.star]
        items = list(target.elements) if isinstance(target, (cst.Tuple, cst.List)) else []
        match ctx.name(source.func):
            case "enumerate" if args and len(items) == 2:
                source, target = args[0], items[1].value
            case "zip" if len(args) == len(items):
                chosen = [(a, i.value) for a, i in zip(args, items, strict=True) if _binds(i.value, name)]
                if len(chosen) != 1:
                    return None
                source, target = chosen[0]
            case "reversed" | "list" if len(args) == 1:
                source = args[0]
            case _:
                match source.func:
                    case cst.Attribute(value=held, attr=cst.Name(value="items")) if len(items) == 2:
                        source, target = held, items[1].value
                    case cst.Attribute(value=held, attr=cst.Name(value="values" | "children")):
                        source = held
                    case _:
                        break
    return source if isinstance(target, cst.Name) and target.value == name else None


def _binds(target: cst.BaseExpression, name: str) -> bool:
    if isinstance(target, (cst.Tuple, cst.List)):
        return any(_binds(e.value, name) for e in target.elements)
    return isinstance(target, cst.Name) and target.value == name
