"""What names stand for: whether `scaler` surely is a `GradScaler`, where it is made, and what is an optimizer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from codemods.model.names import GRAD_SCALER
from codemods.project.index import Ref
from codemods.rules.context import Binding, Context
from codemods.syntax.rewrite import argument

SCALER = GRAD_SCALER | {
    "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    "fairscale.optim.grad_scaler.ShardedGradScaler",
}
_OPTIMIZER = re.compile(r"torch\.optim\.[A-Z]\w*|transformers\.(AdamW|Adafactor)")
_OVERRIDES = ("scale", "step", "unscale_", "update", "__call__")


def values(ctx: Context, node: cst.CSTNode) -> list[tuple[Context, cst.BaseExpression | None]] | None:
    """Everything that is assigned to a name or attribute, each with its file; None: nothing in sight."""
    name = ctx.name(node)
    method = ctx.method(node)
    if name is None:
        return None
    if method is None or not name.startswith(method.self + ".") or name.count(".") != 1:
        assigned = ctx.assigned(node)
        return None if assigned is None else [(ctx, b.value) for b in assigned]
    attribute = name.partition(".")[2]
    found: list[tuple[Context, cst.BaseExpression | None]] = []
    for ref in ctx.index.lineage(method.owner).refs:
        other = ctx.other(ref.path)
        for function in other.all(cst.FunctionDef, attribute) if other else ():
            inside = other.method(function) if other and other.says(function, attribute) else None
            if other and inside and inside.owner == ref and inside.node is function:
                bound: Sequence[Binding] = other.bindings(function).get(f"{inside.self}.{attribute}", ())
                found += [(other, b.value) for b in bound]
    return found or None


def kind(ctx: Context, value: cst.BaseExpression | None, depth: int = 0) -> str:
    """What an assigned value is: `scaler`, `none`, `other`, or `unknown`."""
    match value:
        case cst.IfExp(body=left, orelse=right) | cst.BooleanOperation(left=left, right=right):
            kinds = {kind(ctx, v, depth) for v in (left, right) if ctx.name(v) != "None"}
            return kinds.pop() if len(kinds) == 1 else "other" if "other" in kinds else "unknown"
        case cst.Call(func=func):
            return _class_kind(ctx, func)
        case cst.Name(value="None"):
            return "none"
        case cst.Name() | cst.Attribute() if depth < 3:
            kinds = {kind(where, v, depth + 1) for where, v in values(ctx, value) or ()} - {"none"}
            return kinds.pop() if len(kinds) == 1 else "other" if "other" in kinds else "unknown"
    return "unknown"


def _class_kind(ctx: Context, func: cst.BaseExpression) -> str:
    origins = ctx.origin(func)
    kinds = {_origin_kind(ctx, origin) for origin in origins}
    if len(kinds) == 1:
        return kinds.pop()
    last = (ctx.name(func) or "").rpartition(".")[2]
    return "other" if "other" in kinds or last[:1].isupper() else "unknown"


def _origin_kind(ctx: Context, origin: str) -> str:
    if origin in SCALER:
        return "scaler"
    last = origin.rpartition(":")[2].rpartition(".")[2]
    if ":" in origin:
        ref = Ref(*origin.split(":", 1))
        klass = ctx.index.klass(ref)
        if klass is None:
            return "unknown"
        own = (ctx.index.klass(r) for r in ctx.index.lineage(ref).refs)
        overrides = any(k is None or any(m in k.methods for m in _OVERRIDES) for k in own)
        return "scaler" if not overrides and ctx.index.descends(ref, SCALER) else "other"
    return "other" if last[:1].isupper() else "unknown"


def constructors(ctx: Context, value: cst.BaseExpression | None) -> Iterator[cst.Call]:
    match value:
        case cst.IfExp(body=left, orelse=right) | cst.BooleanOperation(left=left, right=right):
            yield from constructors(ctx, left)
            yield from constructors(ctx, right)
        case cst.Call():
            yield value
        case cst.Name() | cst.Attribute():
            for _where, v in values(ctx, value) or ():
                if isinstance(v, cst.Call):
                    yield v


def optimizer(step: cst.Call) -> cst.BaseExpression | None:
    """What `S.step(…)` or `S.unscale_(…)` is given."""
    found = argument(step, "optimizer", 0)
    return found.value if found is not None else None


def spelled(ctx: Context, node: cst.BaseExpression | None) -> str | None:
    """The text of an expression that means the same a few statements earlier: a name, dotted, or with a plain index."""
    match node:
        case cst.Name() | cst.Attribute() if name := ctx.name(node):
            return name
        case cst.Subscript(value=value, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]):
            plain = isinstance(index, (cst.Integer, cst.SimpleString, cst.Name))
            return f"{name}[{ctx.module.code_for_node(index)}]" if plain and (name := ctx.name(value)) else None
    return None


def is_optimizer(ctx: Context, node: cst.BaseExpression, *, surely: bool) -> bool:
    """Whether a value is an optimizer: by its constructor, or, where that need not be sure, by its name."""
    kind = ctx.kind(node)
    if kind is not None and all(_OPTIMIZER.fullmatch(name) for name in kind.names):
        return True
    if surely or (kind is not None and any(name.startswith("torch.") for name in kind.names)):
        return False
    written = ctx.module.code_for_node(node).rpartition(".")[2].lower()
    return "opt" in written and "sched" not in written


def steps_itself(ctx: Context, call: cst.Call) -> bool:
    """Whether this is `O.step(…)` of an optimizer."""
    match call.func:
        case cst.Attribute(value=owner, attr=cst.Name(value="step")):
            return is_optimizer(ctx, owner, surely=False)
    return False
