"""What the rules of this family share: the scalers of one function, and what it does with gradients, call by call.

A receiver is surely a `GradScaler` by its constructor, by annotation, or by the whole protocol
(`S.scale(loss).backward()` and `S.step(optimizer)` in one function); `S.step(…)` with `S.update()` is half of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.frameworks.grad_scaler.receivers import SCALER, constructors, kind, steps_itself, values
from codemods.model.names import CLIP_GRAD, LIGHTNING_MODULE
from codemods.rules.context import Context
from codemods.syntax import flow
from codemods.syntax.flow import Order
from codemods.syntax.rewrite import keyword, literal, unparenthesized, with_value

CLIP = CLIP_GRAD | {
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grads_with_norm_",
    "apex.contrib.clip_grad.clip_grad_norm_",
    "timm.utils.dispatch_clip_grad",
    "timm.utils.clip_grad.dispatch_clip_grad",
    "timm.utils.adaptive_clip_grad",
    "timm.utils.agc.adaptive_clip_grad",
}
_OWNED = frozenset({"precision_plugin", "accelerator", "fabric", "strategy"})
_METHODS = ("scale", "step", "unscale_", "update", "get_scale")


@dataclass(frozen=True, slots=True)
class Scaler:
    """One gradient scaler as one function uses it; calls in source order."""

    name: str
    """As written: `scaler`, `self.scaler`."""
    sure: bool
    """By constructor, annotation, or the whole protocol; else by half of the protocol."""
    known: bool
    """By constructor or annotation: its class is in sight."""
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
    plain: tuple[cst.Call, ...]
    """`optimizer.step()`, which goes around every scaler."""

    @property
    def calls(self) -> Iterator[cst.Call]:
        return (n for n in self.nodes if isinstance(n, cst.Call))

    @property
    def unscales(self) -> Iterator[cst.Call]:
        """Every call of an `unscale_`, under whatever name the scaler goes."""
        return (c for c in self.calls if isinstance(c.func, cst.Attribute) and c.func.attr.value == "unscale_")

    def hides(self, method: str) -> bool:
        """Whether a method of a scaler is handed on, or used by a function or lambda inside this one."""
        for attribute in self.ctx.all(cst.Attribute, method):
            if attribute.attr.value != method or self.scope not in self.ctx.ancestors(attribute):
                continue
            inside = self.ctx.scope(attribute)
            if inside is self.scope:
                call = self.ctx.parent(attribute)
                if not isinstance(call, cst.Call) or call.func is not attribute:
                    return True
            elif isinstance(self.scope, cst.FunctionDef) or isinstance(inside, cst.Lambda):
                return True
        return False

    def before(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        """Whether `a` comes first where both run in one pass."""
        return flow.order(self.ctx.parents, a, b) is Order.BEFORE

    def exclusive(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        """Whether the two surely never run in one pass."""
        return flow.order(self.ctx.parents, a, b) is Order.EXCLUSIVE

    def contrary(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        """Whether the two are meant for different passes: also under two `if`s with the same test."""
        tests = dict(self._arms(a))
        return self.exclusive(a, b) or any(tests.get(test, arm) is not arm for test, arm in self._arms(b))

    def scaling(self, scaler: Scaler, backward: cst.Call) -> cst.CSTNode:
        """Where the loss of a backward is scaled: in the call itself, or in a statement before."""
        if any(backward in self.ctx.ancestors(s) for s in scaler.scales):
            return backward
        return next((s for s in reversed(scaler.scales) if self.before(s, backward)), backward)

    def _arms(self, node: cst.CSTNode) -> Iterator[tuple[str, bool]]:
        """The tests of the `if`s around a node, innermost first, each with whether it stands under it or the `else`."""
        below = node
        for above in self.ctx.ancestors(node):
            if isinstance(above, cst.If) and below in (above.body, above.orelse):
                test, arm = above.test, below is above.body
                while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
                    test, arm = test.expression, not arm
                text = self.ctx.module.code_for_node(unparenthesized(test))
                yield text.replace(" is not ", " is "), arm is (" is not " not in text)
            below = above

    def reaches(self, a: cst.CSTNode, b: cst.CSTNode) -> bool:
        return flow.reaches(self.ctx.parents, a, b)


def trainings(ctx: Context) -> Iterator[Training]:
    """The functions of a file that use a scaler (its own code included), in source order."""
    named = (a for a in ctx.all(cst.Attribute, ".scale", ".step") if a.attr.value in ("scale", "step"))
    for scope in dict.fromkeys(ctx.scope(a) for a in named):
        if isinstance(scope, (cst.FunctionDef, cst.Module)) and (training := _read(ctx, scope)):
            yield training


def _read(ctx: Context, scope: cst.FunctionDef | cst.Module) -> Training | None:
    """What a function does with gradients; None where it has no scaler, or where Lightning owns it."""
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
    plain = tuple(
        n for n in nodes if isinstance(n, cst.Call) and steps_itself(ctx, n) and not any(n in s.steps for s in scalers)
    )
    return Training(ctx, scope, nodes, tuple(scalers), tuple(b for b in backwards if b not in scaled), plain)


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
        half = steps and updates and "scal" in name.lower()
        if not (steps or updates) or not (backwards or half):
            return None
        sure = bool(backwards)
    made_by = tuple(c for where, value in made or () for c in constructors(where, value))
    return Scaler(
        name,
        sure,
        kinds == {"scaler"},
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
    return method is not None and ctx.index.descends(method.owner, LIGHTNING_MODULE) is True


# -- what a backward differentiates


def sources(ctx: Context, scope: cst.CSTNode, expression: cst.CSTNode, depth: int = 3) -> Iterator[cst.CSTNode]:
    """The nodes of `expression`, and of the values that `scope` binds to the names in it."""
    for node in (expression, *flow.own(expression)):
        yield node
        name = ctx.name(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
        if name and depth and isinstance(scope, (cst.FunctionDef, cst.Module)):
            for binding in ctx.bindings(scope).get(name, ()):
                if binding.value is not None and binding.value is not expression:
                    yield from sources(ctx, scope, binding.value, depth - 1)


def mentions(ctx: Context, scope: cst.CSTNode, expression: cst.CSTNode, *wanted: str) -> bool:
    """Whether a dotted name stands in `expression`, or in a value that `scope` binds to a name in it."""
    return any(
        ctx.name(node) in wanted
        for node in sources(ctx, scope, expression)
        if isinstance(node, (cst.Name, cst.Attribute))
    )


def _is_scaled(ctx: Context, scope: cst.CSTNode, backward: cst.Call, name: str) -> bool:
    loss = ctx.loss_of(backward)
    receiver = backward.func.value if isinstance(backward.func, cst.Attribute) else None
    return any(e is not None and mentions(ctx, scope, e, f"{name}.scale") for e in (receiver, loss))


def discarded(ctx: Context, scaler: Scaler) -> list[cst.Call]:
    """The statements `S.scale(loss)`, whose result nobody takes."""
    calls = (ctx.parent(scale) for scale in scaler.scales)
    return [
        c
        for c in calls
        if isinstance(c, cst.Call) and isinstance(ctx.parent(c), cst.Expr) and len(c.args) == 1 and not c.args[0].star
    ]


def scaled(ctx: Context, backward: cst.Call, scale: str) -> cst.Call | None:
    """A backward of the scaled loss instead; None where its form is not known."""
    loss = ctx.loss_of(backward)
    if loss is None:
        return None
    product = cst.Call(cst.parse_expression(scale), [cst.Arg(unparenthesized(loss))])
    if isinstance(backward.func, cst.Attribute) and backward.func.value is loss:
        return backward.with_changes(func=backward.func.with_changes(value=product))
    first = backward.args[0] if backward.args else None
    if first is not None and first.value is loss and ctx.means(backward.func, "torch.autograd.backward"):
        return with_value(backward, first, product)
    return None


def is_loss(ctx: Context, scope: cst.CSTNode, loss: cst.BaseExpression) -> bool:
    """Whether an expression is a tensor to differentiate, and not an object with a `backward` of its own."""
    match loss:
        case cst.Name() | cst.Attribute():
            last = (ctx.name(loss) or "").rpartition(".")[2].lower()
            if re.search(r"loss|err|cost|objective", last):
                return True
            values = [b.value for b in ctx.bindings(scope).get(ctx.name(loss) or "", ())]
            return bool(values) and all(v is not None and is_loss(ctx, scope, v) for v in values)
        case cst.Subscript(value=value):
            return is_loss(ctx, scope, value)
        case cst.BinaryOperation():
            return True
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="sum" | "mean"))):
            return True
        case cst.Call(func=func):
            last = (ctx.name(func) or "").rpartition(".")[2].lower()
            return bool(re.search(r"loss|criterion|mse|cross_entropy|objective", last))
    return False
