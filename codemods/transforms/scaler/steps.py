"""What the rules of this family share: the scalers of one function, and what it does with gradients, call by call.

A receiver is surely a `GradScaler` by its constructor, by annotation, or by the whole protocol
(`S.scale(loss).backward()` and `S.step(optimizer)` in one function); `S.step(…)` with `S.update()` is half of one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from codemods import flow, known
from codemods.context import Context
from codemods.flow import Order
from codemods.rewrite import argument, keyword, literal
from codemods.transforms.scaler.receivers import SCALER, constructors, kind, values

CLIP = known.CLIP_GRAD | {
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grads_with_norm_",
    "timm.utils.dispatch_clip_grad",
    "timm.utils.clip_grad.dispatch_clip_grad",
    "timm.utils.adaptive_clip_grad",
    "timm.utils.agc.adaptive_clip_grad",
}
_OWNED = frozenset({"precision_plugin", "accelerator", "fabric", "strategy"})
_METHODS = ("scale", "step", "unscale_", "update", "get_scale")
_CONDITIONS = (cst.If, cst.For, cst.While, cst.Try, cst.TryStar, cst.Match)
_SUITES = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Module)


@dataclass(frozen=True, slots=True)
class Scaler:
    """One gradient scaler as one function uses it; calls in source order."""

    name: str
    """As written: `scaler`, `self.scaler`."""
    sure: bool
    """By constructor, annotation, or the whole protocol; else by half of the protocol."""
    constructors: tuple[cst.Call, ...]
    """Where it is made, if every assignment in sight makes one."""
    backwards: tuple[cst.Call, ...]
    """Backward calls of a loss that this scaler scaled."""
    scales: tuple[cst.Attribute, ...]
    """Every mention of its `scale`, called or not."""
    steps: tuple[cst.Call, ...]
    unscales: tuple[cst.Call, ...]
    updates: tuple[cst.Call, ...]
    looks: tuple[cst.Call, ...]
    """Calls of `get_scale`."""

    @property
    def disabled(self) -> bool:
        """Whether it is surely made with `enabled=False`, so that each of its methods does nothing."""
        given = [keyword(c, "enabled") for c in self.constructors]
        return bool(given) and all(a is not None and literal(a.value) is False for a in given)


@dataclass(frozen=True, slots=True)
class Training:
    """What one function (or the module's own code) does with gradients."""

    ctx: Context
    scope: cst.FunctionDef | cst.Module
    nodes: tuple[cst.CSTNode, ...]
    scalers: tuple[Scaler, ...]
    raw: tuple[cst.Call, ...]
    """Backward calls of losses that no scaler scaled."""

    @property
    def calls(self) -> Iterator[cst.Call]:
        return (n for n in self.nodes if isinstance(n, cst.Call))

    def before(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        """Whether `a` comes first where both run in one pass."""
        return flow.order(self.ctx.parents, a, b) is Order.BEFORE

    def exclusive(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        """Whether the two never run in one pass."""
        return flow.order(self.ctx.parents, a, b) is Order.EXCLUSIVE

    def reaches(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        return flow.reaches(self.ctx.parents, a, b)


def read(ctx: Context, scope: cst.FunctionDef | cst.Module) -> Training | None:
    """The training that a function does with a scaler; None where it has none, or where Lightning owns it."""
    nodes = tuple(flow.own(scope.body if isinstance(scope, cst.FunctionDef) else scope))
    used: dict[str, dict[str, list[cst.Attribute]]] = {}
    for node in nodes:
        if isinstance(node, cst.Attribute) and node.attr.value in _METHODS:
            name = ctx.name(node.value)
            if name is not None:
                used.setdefault(name, {}).setdefault(node.attr.value, []).append(node)
    found = {name: uses for name, uses in used.items() if "step" in uses or "scale" in uses}
    if not found or _in_lightning(ctx, scope):
        return None
    scalers: list[Scaler] = []
    backwards = [n for n in nodes if isinstance(n, cst.Call) and ctx.loss_of(n) is not None]
    scaled: set[cst.CSTNode] = set()
    for name, uses in found.items():
        mine = tuple(b for b in backwards if _is_scaled(ctx, scope, b, name))
        scaled.update(mine)
        if scaler := _scaler(ctx, name, uses, mine):
            scalers.append(scaler)
    return Training(ctx, scope, nodes, tuple(scalers), tuple(b for b in backwards if b not in scaled))


def _scaler(
    ctx: Context, name: str, uses: dict[str, list[cst.Attribute]], backwards: tuple[cst.Call, ...]
) -> Scaler | None:
    if _OWNED & set(name.split(".")) or name.startswith("self.trainer."):
        return None

    def called(method: str) -> tuple[cst.Call, ...]:
        calls = (ctx.parent(a) for a in uses.get(method, ()))
        return tuple(
            c for c, a in zip(calls, uses.get(method, ()), strict=True) if isinstance(c, cst.Call) and c.func is a
        )

    receiver = next(iter(uses.values()))[0].value
    made = values(ctx, receiver)
    kinds = {kind(where, value) for where, value in made or ()} - {"none"}
    annotated = ctx.kind(receiver)
    if "other" in kinds:
        return None
    if annotated is not None and annotated.how == "annotation":
        if not annotated.names <= SCALER:
            return None
        kinds = {"scaler"}
    steps, updates = called("step"), called("update")
    sure = kinds == {"scaler"}
    if not sure:
        if not steps or not (backwards or updates) or "scal" not in name.lower():
            return None
        sure = bool(backwards)
    made_by = tuple(c for where, value in made or () for c in constructors(where, value))
    return Scaler(
        name,
        sure,
        made_by if kinds == {"scaler"} else (),
        backwards,
        tuple(uses.get("scale", ())),
        steps,
        called("unscale_"),
        updates,
        called("get_scale"),
    )


def _in_lightning(ctx: Context, scope: cst.FunctionDef | cst.Module) -> bool:
    """Whether this is code of a LightningModule, whose Trainer owns the scaler (other rules speak of that)."""
    method = ctx.method(scope)
    return method is not None and ctx.index.descends(method.owner, known.LIGHTNING_MODULE) is True


# -- what a backward differentiates


def _is_scaled(ctx: Context, scope: cst.CSTNode, backward: cst.Call, name: str) -> bool:
    loss = ctx.loss_of(backward)
    receiver = backward.func.value if isinstance(backward.func, cst.Attribute) else None
    return any(e is not None and mentions(ctx, scope, e, f"{name}.scale") for e in (receiver, loss))


def mentions(ctx: Context, scope: cst.CSTNode, expression: cst.CSTNode, wanted: str, depth: int = 3) -> bool:
    """Whether `expression` holds a dotted name, or a name that `scope` binds to a value that does."""
    for node in (expression, *flow.own(expression)):
        name = ctx.name(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
        if name == wanted:
            return True
        if name and depth and isinstance(scope, (cst.FunctionDef, cst.Module)):
            for binding in ctx.bindings(scope).get(name, ()):
                if binding.value is not None and binding.value is not expression:
                    if mentions(ctx, scope, binding.value, wanted, depth - 1):
                        return True
    return False


# -- optimizers, blocks, what other functions may do


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


def block(ctx: Context, node: cst.CSTNode) -> cst.CSTNode:
    """The suite that surely runs `node` when it runs: the innermost one, `with` blocks looked through."""
    return next(a for a in ctx.ancestors(node) if isinstance(a, _SUITES) and not isinstance(ctx.parent(a), cst.With))


def conditions(ctx: Context, node: cst.CSTNode, within: cst.CSTNode) -> list[cst.CSTNode] | None:
    """The compound statements between `node` and a suite around it, innermost first; None: it is not inside."""
    found: list[cst.CSTNode] = []
    for above in ctx.ancestors(node):
        if above is within:
            return found
        if isinstance(above, _CONDITIONS):
            found.append(above)
    return None


def touched(training: Training, scaler: Scaler, first: cst.CSTNode, last: cst.CSTNode) -> bool:
    """Whether something between two calls may already take the scale out of the gradients, or cannot be followed."""
    ctx = training.ctx
    for node in training.nodes:
        if isinstance(node, cst.Call) and training.before(first, node) and training.before(node, last):
            if node in scaler.looks or _may_unscale(ctx, node, scaler.name):
                return True
        elif isinstance(node, cst.Attribute) and node.attr.value == "grad" and _writes(ctx, node):
            if training.before(first, node) and training.before(node, last):
                return True
    return False


def _writes(ctx: Context, grad: cst.Attribute) -> bool:
    """Whether `p.grad` is assigned, or changed in place."""
    below: cst.CSTNode = grad
    for above in ctx.ancestors(grad):
        if isinstance(above, cst.Attribute) and above.attr.value.endswith("_"):
            return True
        if isinstance(above, (cst.AssignTarget, cst.AugAssign)):
            return isinstance(above, cst.AssignTarget) or below is above.target
        if not isinstance(above, (cst.Attribute, cst.Subscript)):
            return False
        below = above
    return False


def _may_unscale(ctx: Context, call: cst.Call, name: str) -> bool:
    target = ctx.callee(call)
    if target is not None:
        return names_in(*target, ("unscale_", "get_scale"))
    parts = name.split(".")
    owners = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
    if any(ctx.name(a.value) in owners for a in call.args):
        return True
    method = ctx.method(call)
    written = ctx.name(call.func)
    if method is None or written is None or not name.startswith(method.self + "."):
        return False
    if not written.startswith(method.self + ".") or written.count(".") != 1:
        return False
    return next(ctx.index.assigned(method.owner, written.partition(".")[2]), None) is None


def names_in(ctx: Context, function: cst.FunctionDef, attributes: Sequence[str], depth: int = 2) -> bool:
    """Whether a function, or one that it calls, mentions an attribute of these names."""
    for node in flow.own(function.body):
        if isinstance(node, cst.Attribute) and node.attr.value in attributes:
            return True
        if depth and isinstance(node, cst.Call) and (target := ctx.callee(node)):
            if target[1] is not function and names_in(*target, attributes, depth - 1):
                return True
    return False
