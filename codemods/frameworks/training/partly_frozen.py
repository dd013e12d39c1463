"""Models of which a part is frozen and another is trained: by statements around them, in their class, or by PEFT."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from codemods.analysis.calls import given, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.frameworks.trainer_config.adapters import ADAPTING
from codemods.frameworks.trainer_config.trainings import are_one_model, are_parted
from codemods.frameworks.training.frozen_parts import chain_of, frozen_by, is_decided, switched_by
from codemods.project.index import Ref
from codemods.syntax.module import own


class Frozen(NamedTuple):
    """Where a part of a model is frozen."""

    ctx: PythonContext
    node: ast.stmt
    is_sure: bool
    """Whether it is frozen on every way to the place that was asked for."""
    trained: tuple[ast.stmt, ...] = ()
    """What makes the rest require gradients again."""


def partly_frozen(ctx: PythonContext, at: ast.Call, model: ast.expr) -> Iterator[Frozen]:
    """The statements that freeze a part of a model before a call, and those of its class."""
    flow, name = ctx.flow_of(ctx.scope(at)), ctx.name(model)
    before = [n for n in own(ctx.scope(at)) if isinstance(n, ast.stmt) and flow.reaches(n, at)]
    before = [n for n in before if name is not None and not are_parted(ctx, n, at)]
    set_by = [(n, *s) for n in before if (s := switched_by(n)) is not None and _is_of(ctx, s[0], model)]
    for node, owner, mode in set_by:
        trained = tuple(n for n, s, m in set_by if m and ctx.name(s) != name and flow.reaches(node, n))
        if not mode and (ctx.name(owner) != name or trained):
            yield Frozen(ctx, node, all(flow.dominates(each, at) for each in (node, *trained[:1])), trained)
    yield from (Frozen(ctx, n, False) for n in before if isinstance(n, ast.For) and _is_by_name(ctx, n, model))
    yield from _in_its_making(ctx, model)


def _is_of(ctx: PythonContext, part: ast.expr, model: ast.expr) -> bool:
    """Whether an expression surely is a model, or an attribute of it."""
    while isinstance(part, ast.Attribute) and ctx.name(part) != ctx.name(model):
        part = part.value
    return are_one_model(ctx, part, model)


def _is_by_name(ctx: PythonContext, loop: ast.For, model: ast.expr) -> bool:
    """Whether a loop freezes parameters of a model that a test picks: `if "head" not in name`."""
    match loop.iter:
        case ast.Call(func=ast.Attribute(value=owner, attr="named_parameters")) if are_one_model(ctx, owner, model):
            return any(
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Attribute)
                and node.targets[0].attr == "requires_grad"
                and literal(node.value) is not True
                for node in ast.walk(loop)
            )
    return False


def _in_its_making(ctx: PythonContext, model: ast.expr) -> Iterator[Frozen]:
    """Where the class of a model freezes a part of it, or an adapter all but its own weights."""
    found, complete = possible_values(ctx, model, ordered=True, returns=True, given=given)
    if not complete or len(found) != 1 or found[0].path or not isinstance(found[0].node, ast.expr):
        return
    where, made = found[0].ctx, chain_of(found[0].node)[0]
    if not isinstance(made, ast.Call):
        return
    if where.means(made.func, ADAPTING) and (statement := where.statement(made)) is not None:
        yield Frozen(where, statement, True)
    for ref in (Ref.of(each) for each in where.origin(made.func) if ":" in each):
        there = ctx.other(ref.path)
        init = there.definition(f"{ref.name}.__init__") if there is not None else None
        for node in own(init[1]) if init is not None else ():
            owner = frozen_by(node)
            if init is not None and isinstance(node, ast.stmt) and "." in (init[0].name(owner) or ""):
                yield Frozen(init[0], node, not is_decided(init[0], node))
