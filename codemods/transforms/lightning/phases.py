"""When a method of a LightningModule runs: in training, in evaluation, or before `fit` has set anything up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from codemods import flow
from codemods.context import Context
from codemods.index import Ref

TRAINING = (
    "training_step",
    "on_train_start",
    "on_train_epoch_start",
    "on_train_epoch_end",
    "on_train_batch_start",
    "on_train_batch_end",
    "on_before_optimizer_step",
    "on_before_zero_grad",
)
"""Hooks in which the Trainer's strategy is at work, and gradients are on."""
EVALUATION = tuple(
    [f"{kind}_step" for kind in ("validation", "test", "predict")]
    + [
        f"on_{kind}_{when}"
        for kind in ("validation", "test", "predict")
        for when in ("start", "end", "epoch_start", "epoch_end", "batch_start", "batch_end")
    ]
)
BEFORE = ("__init__", "prepare_data", "setup", "configure_model", "configure_sharded_model", "configure_optimizers")

Reached = dict[tuple[str, str], tuple[Context, cst.FunctionDef]]
"""Functions by path and qualified name."""


def reached(ctx: Context, owner: Ref, roots: Iterable[str]) -> Reached:
    """What instances of `owner` run, or hand on as `self.method`, once these methods run."""
    found: Reached = {}
    waiting = [pair for root in roots if (pair := _own(ctx, owner, root))]
    while waiting:
        context, function = waiting.pop()
        key = (context.path, context.qualified(function))
        if key not in found:
            found[key] = (context, function)
            waiting.extend(_leads_to(context, function, owner))
    return found


def _own(ctx: Context, owner: Ref, name: str) -> tuple[Context, cst.FunctionDef] | None:
    """The method that instances of `owner` have under a name."""
    place = ctx.index.method(owner, name)
    context = ctx.other(place.path) if place else None
    return context.definition(f"{place.name}.{name}") if context and place else None


def _leads_to(ctx: Context, function: cst.FunctionDef, owner: Ref) -> Iterator[tuple[Context, cst.FunctionDef]]:
    params = [*function.params.posonly_params, *function.params.params]
    self = params[0].name.value if params and ctx.klass(function) else None
    for node in inside(function):
        match node:
            case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value=attribute)) if name == self:
                pair = _own(ctx, owner, attribute)
            case cst.Call(func=cst.Name(value=name)) if name == self:
                pair = _own(ctx, owner, "forward")
            case cst.Attribute(value=cst.Call(func=cst.Name(value="super")), attr=cst.Name(value=attribute)):
                pair = _parents(ctx, function, attribute)
            case cst.Call():
                pair = ctx.callee(node)
            case _:
                continue
        if pair:
            yield pair


def _parents(ctx: Context, function: cst.FunctionDef, name: str) -> tuple[Context, cst.FunctionDef] | None:
    """The method that `super().name` means in `function`."""
    here = ctx.klass(function)
    for ref in ctx.index.lineage(here).refs[1:] if here else ():
        klass = ctx.index.klass(ref)
        if klass and name in klass.methods:
            context = ctx.other(ref.path)
            return context.definition(f"{ref.name}.{name}") if context else None
    return None


def inside(function: cst.FunctionDef | cst.Lambda) -> Iterator[cst.CSTNode]:
    """The nodes of a function's body, those of nested functions and lambdas too."""
    for node in flow.own(function.body):
        yield node
        if isinstance(node, (cst.FunctionDef, cst.Lambda)):
            yield from inside(node)


def runs(ctx: Context, owner: Ref, function: cst.FunctionDef, roots: Iterable[str]) -> bool:
    """Whether these methods of `owner`, or of a class of the project that descends from it, lead to `function`."""
    key = (ctx.path, ctx.qualified(function))
    roots = tuple(roots)
    return key in reached(ctx, owner, roots) or any(
        key in reached(ctx, heir, roots) for heir in ctx.index.subclasses(owner)
    )


def called_from_outside(ctx: Context, owner: Ref, function: cst.FunctionDef) -> bool:
    """Whether the file calls a method of that name outside the class, as in `model.warm_up(batch)` before `fit`."""
    name = function.name.value
    for call in ctx.all(cst.Call, name):
        if isinstance(call.func, cst.Attribute) and call.func.attr.value == name and ctx.klass(call) != owner:
            return True
    return False
