"""Gradient scalers: which values are one, and how one function uses it.

A receiver is surely a `GradScaler` by its constructor, by annotation, or by the whole protocol
(`S.scale(loss).backward()` and `S.step(optimizer)` in one function); `S.step(x)` with `S.update()` is half of
one.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.analysis import instances
from codemods.analysis.calls import argument, has_splat, keyword, literal
from codemods.analysis.optimizers import optimizes
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import PossibleValue, possible_values
from codemods.model.names import ACCELERATOR, FABRIC, GRAD_SCALER
from codemods.project.index import Ref
from codemods.syntax.module import is_none

SCALER = GRAD_SCALER | {
    "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    "fairscale.optim.grad_scaler.ShardedGradScaler",
}
_OVERRIDES = ("scale", "step", "unscale_", "update", "__call__")
_OWNED = frozenset({"precision_plugin", "accelerator", "fabric", "strategy"})
METHODS = ("scale", "step", "unscale_", "update", "get_scale")


@dataclass(frozen=True, slots=True)
class Scaler:
    """One gradient scaler as one function uses it; calls in source order."""

    name: str
    """As written: `scaler`, `self.scaler`."""
    sure: bool
    """By constructor, annotation, or the whole protocol; else by half of the protocol."""
    known: bool
    """By constructor or annotation: its class is in sight."""
    constructors: tuple[ast.Call, ...]
    """Where it is made, if every assignment in sight makes one."""
    backwards: tuple[ast.Call, ...]
    """Backward calls of a loss that this scaler scaled."""
    scales: tuple[ast.Attribute, ...]
    """Every mention of its `scale`, called or not."""
    steps: tuple[ast.Call, ...]
    unscales: tuple[ast.Call, ...]
    updates: tuple[ast.Call, ...]
    looks: tuple[ast.Call, ...]
    """Calls of `get_scale`."""

    @property
    def disabled(self) -> bool:
        """Whether it is surely made with `enabled=False`, so that each of its methods does nothing."""
        found = [switch(call) for call in self.constructors]
        return bool(found) and all(value is not None and literal(value) is False for value in found)


def switch(call: ast.Call) -> ast.expr | None:
    """What a call that makes a scaler gives as `enabled`: by name, as the last of six, or of five without a device."""
    if has_splat(call):
        return keyword(call, "enabled")
    without_a_device = bool(call.args) and isinstance(literal(call.args[0]), int | float)
    return argument(call, "enabled", 4 if without_a_device else 5)


# -- which values are scalers


def kind(value: PossibleValue) -> str:
    """What a value is: `scaler`, `none`, `other`, or `unknown`."""
    if isinstance(value.node, ast.Call) and not value.path:
        return _class_kind(value.ctx, value.node.func)
    return "none" if is_none(value.node) and not value.path else "unknown"


def _class_kind(ctx: PythonContext, func: ast.expr) -> str:
    kinds = {_origin_kind(ctx, origin) for origin in ctx.origin(func)}
    if len(kinds) == 1:
        return kinds.pop()
    last = (ctx.name(func) or "").rpartition(".")[2]
    return "other" if "other" in kinds or last[:1].isupper() else "unknown"


def _origin_kind(ctx: PythonContext, origin: str) -> str:
    if origin in SCALER:
        return "scaler"
    last = origin.rpartition(":")[2].rpartition(".")[2]
    if ":" in origin:
        ref = Ref.of(origin)
        if ctx.index.klass(ref) is None:
            return "unknown"
        lineage = (ctx.index.klass(r) for r in ctx.index.lineage(ref).refs)
        overrides = any(k is None or any(m in k.methods for m in _OVERRIDES) for k in lineage)
        return "scaler" if not overrides and ctx.index.descends(ref, SCALER) else "other"
    return "other" if last[:1].isupper() else "unknown"


def scaler_of(
    ctx: PythonContext, name: str, uses: dict[str, list[ast.Attribute]], backwards: tuple[ast.Call, ...]
) -> Scaler | None:
    """The scaler that a function uses under a name; None where it is none, or one that Lightning owns.

    Args:
        uses: the mentions of its methods, by method.
        backwards: the backward calls of a loss that it scaled.
    """
    if _OWNED & set(name.split(".")[1:]) or name.startswith("self.trainer."):
        return None

    def called(method: str) -> tuple[ast.Call, ...]:
        calls = ((ctx.parent(a), a) for a in uses.get(method, ()))
        return tuple(c for c, a in calls if isinstance(c, ast.Call) and c.func is a)

    receiver = next(iter(uses.values()))[0].value
    if isinstance(receiver, ast.Attribute) and ctx.is_a(receiver.value, ACCELERATOR | FABRIC):
        return None
    made, complete = possible_values(ctx, receiver, returns=True)
    kinds = {*map(kind, made), "none" if complete else "unknown"} - {"none"}
    annotated = instances.of(ctx, receiver)
    if "other" in kinds:
        return None
    if annotated is not None and annotated.how == "annotation":
        if not annotated.names <= SCALER:
            return None
        kinds = {"scaler"}
    steps, updates = called("step"), called("update")
    is_known = sure = kinds == {"scaler"}
    if not sure:
        given = [optimizer(step) for step in steps]
        half = bool(steps and updates) and all(isinstance(each, (ast.Name, ast.Attribute)) for each in given)
        half = half and not any(optimizes(ctx, each) is False for each in given if each is not None)
        if not (steps or updates) or not (backwards or half):
            return None
        sure = bool(backwards) or (bool(steps and updates) and _scales(ctx, called("scale")))
    made_by = tuple(each.node for each in made if isinstance(each.node, ast.Call)) if is_known else ()
    return Scaler(
        name,
        sure,
        is_known,
        made_by,
        backwards,
        tuple(uses.get("scale", ())),
        steps,
        called("unscale_"),
        updates,
        called("get_scale"),
    )


def _scales(ctx: PythonContext, calls: tuple[ast.Call, ...]) -> bool:
    """Whether `S.scale(…)` is called with one value: `scale`, `step` and `update` together are in no other class."""
    return any(len(call.args) == 1 and not call.keywords for call in calls)


# -- what a scaler is given


def optimizer(step: ast.Call) -> ast.expr | None:
    """What `S.step(…)` or `S.unscale_(…)` is given."""
    return argument(step, "optimizer", 0)


def given_optimizer(ctx: PythonContext, step: ast.Call) -> str | None:
    """The text of the same; None where it may mean another optimizer a few statements earlier."""
    key = (given_optimizer, step)
    if key not in ctx.memo:
        ctx.memo[key] = spelled(ctx, optimizer(step))
    found: str | None = ctx.memo[key]
    return found


def spelled(ctx: PythonContext, node: ast.expr | None) -> str | None:
    """The text of an expression that means the same a few statements earlier: a name, dotted, or with a plain index."""
    match node:
        case ast.Name() | ast.Attribute() if name := ctx.name(node):
            return name
        case ast.Subscript(value=value, slice=ast.Name() | ast.Constant(value=int() | str()) as index):
            return f"{name}[{ctx.source(index)}]" if (name := ctx.name(value)) else None
    return None
