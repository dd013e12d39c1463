"""Where checkpointed code runs: the file, what `self` is, and what the functions around were called with."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from codemods.analysis.python_context import PythonContext
from codemods.project.index import Ref
from codemods.syntax.module import Function


class Unseen(Exception):
    """What runs cannot be told, or is known to misbehave; the argument says why, in words for a message."""


@dataclass(frozen=True, eq=False)
class Bound:
    """The arguments of one call by parameter; `open`: a splat may have given the others too."""

    values: Mapping[str, tuple[ast.expr, Frame]]
    open: bool = False


@dataclass(frozen=True)
class Instance:
    """An object of a project class; `made` holds the arguments of its constructor (None: `self`, made by anybody)."""

    ref: Ref
    made: Bound | None = None


@dataclass(frozen=True)
class Frame:
    """Where an expression is evaluated."""

    ctx: PythonContext
    self: Instance | None = None
    calls: Mapping[Function, Bound] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Callee:
    """A function or lambda of the project, and where it is evaluated."""

    node: Function | ast.Lambda
    frame: Frame


@dataclass(frozen=True)
class Library:
    """Something of a library: a function, or (with `call`) the object that a call of it makes."""

    origin: str
    call: ast.Call | None
    frame: Frame


Argument = tuple[ast.expr, Frame]
Part = Callee | Instance | Library


def bind(call: ast.Call, function: Function | None, frame: Frame, *, skip: int) -> Bound:
    """The arguments of a call by parameter, the first `skip` parameters (`self`) left out."""
    names = [p.arg for p in (*function.args.posonlyargs, *function.args.args)][skip:] if function else []
    splat = next((i for i, given in enumerate(call.args) if isinstance(given, ast.Starred)), None)
    values = {name: (given, frame) for name, given in zip(names, call.args[:splat], strict=False)}
    values |= {k.arg: (k.value, frame) for k in call.keywords if k.arg is not None}
    return Bound(values, splat is not None or any(k.arg is None for k in call.keywords))


def is_method(ctx: PythonContext, function: Function) -> bool:
    """Whether a function takes `self` (or `cls`) when it is called on an object."""
    return isinstance(ctx.scope(function), ast.ClassDef) and "staticmethod" not in map(
        ctx.name, function.decorator_list
    )
