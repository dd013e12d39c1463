"""Gradient scalers: which values are one, and what one function does with it and with gradients, call by call.

A receiver is surely a `GradScaler` by its constructor, by annotation, or by the whole protocol
(`S.scale(loss).backward()` and `S.step(optimizer)` in one function); `S.step(…)` with `S.update()` is half of one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from codemods.analysis import instances
from codemods.analysis.calls import argument, keyword, literal, mentions, values
from codemods.analysis.control_flow import ControlFlow
from codemods.analysis.python_context import PythonContext
from codemods.model.names import CLIP_GRAD, GRAD_SCALER, LIGHTNING_MODULE
from codemods.project.index import Ref
from codemods.syntax.module import FUNCTIONS, LOOPS, TRIES, Scope, own

SCALER = GRAD_SCALER | {
    "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
    "fairscale.optim.grad_scaler.ShardedGradScaler",
}
CLIP = CLIP_GRAD | {
    "torch.nn.utils.clip_grad_norm",
    "torch.nn.utils.clip_grads_with_norm_",
    "apex.contrib.clip_grad.clip_grad_norm_",
    "timm.utils.dispatch_clip_grad",
    "timm.utils.clip_grad.dispatch_clip_grad",
    "timm.utils.adaptive_clip_grad",
    "timm.utils.agc.adaptive_clip_grad",
}
UNSCALING = ("unscale_", "get_scale")
_OPTIMIZER = re.compile(r"torch\.optim\.[A-Z]\w*|transformers\.(AdamW|Adafactor)")
_OVERRIDES = ("scale", "step", "unscale_", "update", "__call__")
_OWNED = frozenset({"precision_plugin", "accelerator", "fabric", "strategy"})
_METHODS = ("scale", "step", "unscale_", "update", "get_scale")
_CONDITIONS = (ast.If, *LOOPS, *TRIES, ast.Match)

Given = tuple[PythonContext, "ast.expr | None"]
"""A value with the file in which it stands; None: no plain expression."""


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
        found = [keyword(call, "enabled") for call in self.constructors]
        return bool(found) and all(value is not None and literal(value) is False for value in found)


@dataclass(frozen=True)
class Training:
    """What one function (or the module's own code) does with gradients."""

    ctx: PythonContext
    scope: Scope
    nodes: tuple[ast.AST, ...]
    scalers: tuple[Scaler, ...]
    raw: tuple[ast.Call, ...]
    """Backward calls of losses that no scaler scaled."""
    plain: tuple[ast.Call, ...]
    """`optimizer.step()`, which goes around every scaler."""

    @cached_property
    def flow(self) -> ControlFlow:
        return self.ctx.flow_of(self.scope)

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(n for n in self.nodes if isinstance(n, ast.Call))

    @cached_property
    def unscales(self) -> tuple[ast.Call, ...]:
        """Every call of an `unscale_`, under whatever name the scaler goes."""
        return tuple(c for c in self.calls if isinstance(c.func, ast.Attribute) and c.func.attr == "unscale_")

    def hides(self, method: str) -> bool:
        """Whether a method of a scaler is handed on, or used by a function or lambda inside this one."""
        key = (Training.hides, self.scope, method)
        if key not in self.ctx.memo:
            self.ctx.memo[key] = self._hides(method)
        return bool(self.ctx.memo[key])

    def _hides(self, method: str) -> bool:
        for attribute in self.ctx.all(ast.Attribute):
            if attribute.attr != method or not self.ctx.module.contains(self.scope, attribute):
                continue
            inside = self.ctx.scope(attribute)
            if inside is self.scope:
                call = self.ctx.parent(attribute)
                if not isinstance(call, ast.Call) or call.func is not attribute:
                    return True
            elif isinstance(self.scope, FUNCTIONS) or isinstance(inside, ast.Lambda):
                return True
        return False

    def before(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether `a` comes first where both run in one pass."""
        return self.flow.stands_before(a, b)

    def reaches(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether control can pass from `a` to `b` in one pass."""
        return self.flow.reaches(a, b)

    def exclusive(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether the two surely never run in one pass."""
        return self.flow.apart(a, b)

    def contrary(self, a: ast.AST, b: ast.AST) -> bool:
        """Whether the two are meant for different passes: also under two `if`s with the same test."""
        if self.exclusive(a, b):
            return True
        here, there = self.flow.tests(a), self.flow.tests(b)
        return any(there.get(test, holds) is not holds for test, holds in here.items())

    def scaling(self, scaler: Scaler, backward: ast.Call) -> ast.AST:
        """Where the loss of a backward is scaled: in the call itself, or in a statement before."""
        if any(backward in self.ctx.ancestors(s) for s in scaler.scales):
            return backward
        return next((s for s in reversed(scaler.scales) if self.before(s, backward)), backward)

    # -- where calls stand

    def block(self, node: ast.AST) -> tuple[ast.AST, str]:
        """The suite that surely runs `node` when it runs: its owner and field, `with` blocks looked through."""
        below = node
        for above in self.ctx.ancestors(node):
            if isinstance(below, ast.stmt) and not isinstance(above, (ast.With, ast.AsyncWith)):
                if isinstance(above, (ast.ExceptHandler, ast.match_case)):
                    return above, "body"
                return above, _field(above, below)
            below = above
        raise AssertionError("a node of the function")  # pragma: no cover

    def conditions(self, node: ast.AST, within: tuple[ast.AST, str]) -> list[ast.stmt] | None:
        """The compound statements between `node` and a suite around it, innermost first; None: it is not inside."""
        found: list[ast.stmt] = []
        below = node
        for above in self.ctx.ancestors(node):
            if above is within[0] and isinstance(below, ast.stmt) and _field(above, below) == within[1]:
                return found
            if isinstance(above, _CONDITIONS):
                found.append(above)  # type: ignore[arg-type]
            below = above
        return None

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether `node` stands in the statement `outer`."""
        return any(above is outer for above in self.ctx.ancestors(node))

    def always(self, node: ast.AST) -> bool:
        """Whether an expression is evaluated whenever its statement runs (not `a() if c else b()`, `c and a()`)."""
        for above in self.ctx.ancestors(node):
            if isinstance(above, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp)):
                return False
            if isinstance(above, ast.GeneratorExp):
                return False
            if isinstance(above, ast.stmt):
                break
        return True

    # -- what happens in between

    def between(self, first: ast.AST, last: ast.AST) -> Iterator[ast.AST]:
        """What may run after `first` and before `last`."""
        return (n for n in self.nodes if self.before(first, n) and self.before(n, last))

    def touched(self, scaler: Scaler, first: ast.AST, last: ast.AST) -> bool:
        """Whether something between two calls may already take the scale out of the gradients, or is not followed."""
        return any(self.before(first, node) and self.before(node, last) for node in self._touching(scaler))

    def _touching(self, scaler: Scaler) -> list[ast.AST]:
        """The nodes that may take the scale out of the gradients."""
        key = (Training.touched, self.scope, scaler.name)
        if key not in self.ctx.memo:
            self.ctx.memo[key] = [
                node
                for node in self.nodes
                if (isinstance(node, ast.Attribute) and writes(self.ctx, node))
                or (
                    isinstance(node, ast.Call)
                    and (node in scaler.looks or self.may_mention(node, scaler.name, UNSCALING))
                )
            ]
        found: list[ast.AST] = self.ctx.memo[key]
        return found

    def may_mention(self, call: ast.Call, name: str, attributes: Sequence[str]) -> bool:
        """Whether a call may run code that uses these attributes of the scaler: seen, or handed where none can look."""
        ctx = self.ctx
        target = ctx.callee(call)
        if target is not None:
            return mentions(*target, attributes)
        parts = name.split(".")
        owners = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
        if any(ctx.name(value) in owners for value in values(call)):
            return True
        method, written = ctx.method(call), ctx.name(call.func)
        if method is None or written is None or not name.startswith(method.self + "."):
            return False
        if not written.startswith(method.self + ".") or written.count(".") != 1:
            return False
        return next(ctx.index.assigned(method.owner, written.partition(".")[2]), None) is None


def _field(above: ast.AST, below: ast.AST) -> str:
    """The field of a compound statement in whose list a statement stands."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        listed = getattr(above, name, None)
        if isinstance(listed, list) and any(each is below for each in listed):
            return name
    return ""


def writes(ctx: PythonContext, grad: ast.Attribute) -> bool:
    """Whether this is a `p.grad` that is assigned, or changed in place."""
    if grad.attr != "grad":
        return False
    below: ast.AST = grad
    for above in ctx.ancestors(grad):
        if isinstance(above, ast.Attribute) and above.attr.endswith("_"):
            return True
        if isinstance(above, ast.Assign):
            return below is not above.value
        if isinstance(above, (ast.AnnAssign, ast.AugAssign)):
            return below is above.target
        if isinstance(above, (ast.Tuple, ast.List)) and not isinstance(above.ctx, ast.Load):
            return True
        if not isinstance(above, (ast.Attribute, ast.Subscript)):
            return False
        below = above
    return False


# -- which values are scalers


def given_to(ctx: PythonContext, node: ast.expr) -> list[Given] | None:
    """Everything that is assigned to a name or attribute, each with its file; None: nothing in sight."""
    name = ctx.name(node)
    method = ctx.method(node)
    if name is None:
        return None
    if method is None or not name.startswith(method.self + ".") or name.count(".") != 1:
        assigned = ctx.assigned(node)
        return None if assigned is None else [(ctx, b.value) for b in assigned]
    attribute = name.partition(".")[2]
    found: list[Given] = []
    for ref in ctx.index.lineage(method.owner).refs:
        other = ctx.other(ref.path)
        for klass in other.definitions(ref.name) if other else ():
            for function in own(klass):
                inside = other.method(function) if other and isinstance(function, FUNCTIONS) else None
                if other and inside and inside.node is function:
                    found += [(other, b.value) for b in other.bindings(function).get(f"{inside.self}.{attribute}", ())]
    return found or None


def kind(ctx: PythonContext, value: ast.expr | None, depth: int = 0) -> str:
    """What an assigned value is: `scaler`, `none`, `other`, or `unknown`."""
    match value:
        case ast.IfExp(body=body, orelse=orelse):
            return _either({kind(ctx, body, depth), kind(ctx, orelse, depth)})
        case ast.BoolOp(values=arms):
            return _either({kind(ctx, arm, depth) for arm in arms})
        case ast.Call(func=func):
            return _class_kind(ctx, func)
        case ast.Constant(value=None):
            return "none"
        case ast.Name() | ast.Attribute() if depth < 3:
            kinds = {kind(where, v, depth + 1) for where, v in given_to(ctx, value) or ()} - {"none"}
            return kinds.pop() if len(kinds) == 1 else "other" if "other" in kinds else "unknown"
    return "unknown"


def _either(kinds: set[str]) -> str:
    kinds = kinds - {"none"} or {"none"}
    return kinds.pop() if len(kinds) == 1 else "other" if "other" in kinds else "unknown"


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
        ref = Ref(*origin.split(":", 1))
        if ctx.index.klass(ref) is None:
            return "unknown"
        lineage = (ctx.index.klass(r) for r in ctx.index.lineage(ref).refs)
        overrides = any(k is None or any(m in k.methods for m in _OVERRIDES) for k in lineage)
        return "scaler" if not overrides and ctx.index.descends(ref, SCALER) else "other"
    return "other" if last[:1].isupper() else "unknown"


def constructors(ctx: PythonContext, value: ast.expr | None) -> Iterator[ast.Call]:
    """The calls that make a value, through conditional expressions and one name."""
    match value:
        case ast.IfExp(body=left, orelse=right):
            yield from (*constructors(ctx, left), *constructors(ctx, right))
        case ast.BoolOp(values=arms):
            for arm in arms:
                yield from constructors(ctx, arm)
        case ast.Call():
            yield value
        case ast.Name() | ast.Attribute():
            yield from (v for _, v in given_to(ctx, value) or () if isinstance(v, ast.Call))


def optimizer(step: ast.Call) -> ast.expr | None:
    """What `S.step(…)` or `S.unscale_(…)` is given."""
    return argument(step, "optimizer", 0)


def spelled(ctx: PythonContext, node: ast.expr | None) -> str | None:
    """The text of an expression that means the same a few statements earlier: a name, dotted, or with a plain index."""
    match node:
        case ast.Name() | ast.Attribute() if name := ctx.name(node):
            return name
        case ast.Subscript(value=value, slice=ast.Name() | ast.Constant(value=int() | str()) as index):
            return f"{name}[{ctx.source(index)}]" if (name := ctx.name(value)) else None
    return None


def is_optimizer(ctx: PythonContext, node: ast.expr, *, surely: bool) -> bool:
    """Whether a value is an optimizer: by its constructor, or, where that need not be sure, by its name."""
    found = instances.of(ctx, node)
    if found is not None and all(_OPTIMIZER.fullmatch(name) for name in found.names):
        return True
    if surely or (found is not None and any(name.startswith("torch.") for name in found.names)):
        return False
    written = ctx.source(node).rpartition(".")[2].lower()
    return "opt" in written and "sched" not in written


# -- the trainings of a file


def trainings(ctx: PythonContext) -> list[Training]:
    """The functions of a file that use a scaler (its own code included), in source order."""
    if (trainings,) not in ctx.memo:
        named = (a for a in ctx.all(ast.Attribute) if a.attr in ("scale", "step"))
        scopes = dict.fromkeys(map(ctx.scope, named))
        found = (_read(ctx, scope) for scope in scopes if isinstance(scope, (ast.Module, *FUNCTIONS)))
        ctx.memo[trainings,] = [training for training in found if training is not None]
    result: list[Training] = ctx.memo[trainings,]
    return result


def _read(ctx: PythonContext, scope: Scope) -> Training | None:
    """What a function does with gradients; None where it has no scaler, or where Lightning owns it."""
    nodes = tuple(own(scope))
    used: dict[str, dict[str, list[ast.Attribute]]] = {}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _METHODS and (name := ctx.name(node.value)) is not None:
            used.setdefault(name, {}).setdefault(node.attr, []).append(node)
    found = {name: uses for name, uses in used.items() if "step" in uses or "scale" in uses}
    method = ctx.method(scope)
    if not found or (method is not None and ctx.index.descends(method.owner, LIGHTNING_MODULE) is True):
        return None
    scalers: list[Scaler] = []
    backwards = [n for n in nodes if isinstance(n, ast.Call) and ctx.loss_of(n) is not None]
    scaled_ones: set[ast.AST] = set()
    for name, uses in found.items():
        mine = tuple(b for b in backwards if _is_scaled(ctx, scope, b, name))
        scaled_ones.update(mine)
        if scaler := _scaler(ctx, name, uses, mine):
            scalers.append(scaler)
    steps = {step for scaler in scalers for step in scaler.steps}
    plain = tuple(n for n in nodes if isinstance(n, ast.Call) and n not in steps and _steps_itself(ctx, n))
    raw = tuple(b for b in backwards if b not in scaled_ones)
    return Training(ctx, scope, nodes, tuple(scalers), raw, plain)


def _steps_itself(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether this is `O.step(…)` of an optimizer."""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == "step" and is_optimizer(ctx, func.value, surely=False)


def _scaler(
    ctx: PythonContext, name: str, uses: dict[str, list[ast.Attribute]], backwards: tuple[ast.Call, ...]
) -> Scaler | None:
    if _OWNED & set(name.split(".")) or name.startswith("self.trainer."):
        return None

    def called(method: str) -> tuple[ast.Call, ...]:
        calls = ((ctx.parent(a), a) for a in uses.get(method, ()))
        return tuple(c for c, a in calls if isinstance(c, ast.Call) and c.func is a)

    receiver = next(iter(uses.values()))[0].value
    made = given_to(ctx, receiver)
    kinds = {kind(where, value) for where, value in made or ()} - {"none"}
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
        half = steps and updates and "scal" in name.lower()
        if not (steps or updates) or not (backwards or half):
            return None
        sure = bool(backwards)
    made_by = tuple(c for where, value in made or () for c in constructors(where, value)) if is_known else ()
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


# -- what a backward differentiates


def sources(ctx: PythonContext, scope: Scope, expression: ast.AST, depth: int = 3) -> Iterator[ast.AST]:
    """The nodes of `expression`, and of the values that `scope` binds to the names in it, each once."""
    bindings = ctx.bindings(scope) if isinstance(scope, (ast.Module, *FUNCTIONS)) else {}
    seen, newest = {expression}, [expression]
    for remaining in range(depth, -1, -1):
        names: dict[str, None] = {}
        for value in newest:
            for node in (value, *own(value)):
                yield node
                if isinstance(node, (ast.Name, ast.Attribute)) and (name := ctx.name(node)):
                    names[name] = None
        given = (b.value for name in names for b in bindings.get(name, ()) if remaining)
        newest = [value for value in given if value is not None and value not in seen]
        seen.update(newest)


def made_of(ctx: PythonContext, scope: Scope, expression: ast.AST, *wanted: str) -> bool:
    """Whether a dotted name stands in `expression`, or in a value that `scope` binds to a name in it."""
    return any(
        ctx.name(node) in wanted
        for node in sources(ctx, scope, expression)
        if isinstance(node, (ast.Name, ast.Attribute))
    )


def _is_scaled(ctx: PythonContext, scope: Scope, backward: ast.Call, name: str) -> bool:
    receiver = backward.func.value if isinstance(backward.func, ast.Attribute) else None
    return any(e is not None and made_of(ctx, scope, e, f"{name}.scale") for e in (receiver, ctx.loss_of(backward)))


def discarded(ctx: PythonContext, scaler: Scaler) -> list[ast.Call]:
    """The statements `S.scale(loss)`, whose result nobody takes."""
    calls = (ctx.parent(scale) for scale in scaler.scales)
    return [c for c in calls if isinstance(c, ast.Call) and isinstance(ctx.parent(c), ast.Expr) and _alone(c)]


def _alone(call: ast.Call) -> bool:
    """Whether a call is given one plain value."""
    starred = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    return len(values(call)) == 1 and not starred


def scaled(ctx: PythonContext, backward: ast.Call, scale: str) -> tuple[ast.expr, str] | None:
    """What to replace by what, so that a backward differentiates the scaled loss; None: its form is not known."""
    loss = ctx.loss_of(backward)
    if loss is None:
        return None
    product = f"{scale}({ctx.source(loss)})"
    if isinstance(backward.func, ast.Attribute) and backward.func.value is loss:
        return loss, product
    if backward.args and backward.args[0] is loss and ctx.means(backward.func, "torch.autograd.backward"):
        return loss, product
    return None


def is_loss(ctx: PythonContext, scope: Scope, loss: ast.expr) -> bool:
    """Whether an expression is a tensor to differentiate, and not an object with a `backward` of its own."""
    match loss:
        case ast.Name() | ast.Attribute():
            last = (ctx.name(loss) or "").rpartition(".")[2].lower()
            if re.search(r"loss|err|cost|objective", last):
                return True
            found = [b.value for b in ctx.bindings(scope).get(ctx.name(loss) or "", ())]
            return bool(found) and all(v is not None and is_loss(ctx, scope, v) for v in found)
        case ast.Subscript(value=value):
            return is_loss(ctx, scope, value)
        case ast.BinOp():
            return True
        case ast.Call(func=ast.Attribute(attr="sum" | "mean")):
            return True
        case ast.Call(func=func):
            last = (ctx.name(func) or "").rpartition(".")[2].lower()
            return bool(re.search(r"loss|criterion|mse|cross_entropy|objective", last))
    return False
