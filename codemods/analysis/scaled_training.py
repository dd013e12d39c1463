"""What one function does with a gradient scaler and with gradients: call by call, in order, under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from codemods.analysis.calls import values
from codemods.analysis.grad_scaler import METHODS, Scaler, scaler_of
from codemods.analysis.gradient_use import ReachedCode
from codemods.analysis.optimizers import optimizes, stepped
from codemods.analysis.python_context import PythonContext
from codemods.analysis.regions import WITHS
from codemods.analysis.sources import sources
from codemods.flow.control_flow import ControlFlow, always
from codemods.model.names import CLIP_GRAD, LIGHTNING_MODULE
from codemods.syntax.module import FUNCTIONS, LOOPS, TRIES, Scope, own

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
_CONDITIONS = (ast.If, *LOOPS, *TRIES, ast.Match)


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
    perhaps: tuple[ast.Call, ...]
    """`x.step()` of what may be an optimizer, or a scheduler."""

    @cached_property
    def flow(self) -> ControlFlow:
        return self.ctx.flow_of(self.scope)

    @cached_property
    def calls(self) -> tuple[ast.Call, ...]:
        return tuple(n for n in self.nodes if isinstance(n, ast.Call))

    @cached_property
    def leaves(self) -> tuple[ast.stmt, ...]:
        """Every `continue`, `break` and `return`."""
        return tuple(n for n in self.nodes if isinstance(n, (ast.Continue, ast.Break, ast.Return)))

    @cached_property
    def factors(self) -> tuple[tuple[ast.expr, ast.expr], ...]:
        """What is multiplied or divided, each with the value by which."""
        found: list[tuple[ast.expr, ast.expr]] = []
        for node in self.nodes:
            match node:
                case ast.BinOp(left=left, right=right, op=ast.Div() | ast.Mult()):
                    found.append((left, right))
                case ast.AugAssign(target=left, value=right, op=ast.Div() | ast.Mult()):
                    found.append((left, right))
        return tuple(found)

    def looks_at(self, ctx: PythonContext, node: ast.AST) -> bool:
        """Whether a node is part of this function itself."""
        return ctx is self.ctx and ctx.scope(node) is self.scope

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
        statement = self.ctx.statement(node)
        assert statement is not None, "a node of the function"
        while isinstance((found := self.ctx.module.block(statement))[0], WITHS):
            statement = found[0]
        return found

    def conditions(self, node: ast.AST, within: tuple[ast.AST, str]) -> list[ast.stmt] | None:
        """The compound statements between `node` and a suite around it, innermost first; None: it is not inside."""
        found: list[ast.stmt] = []
        below = node
        for above in self.ctx.ancestors(node):
            if above is within[0] and isinstance(below, ast.stmt) and self.ctx.module.block(below) == within:
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
        point = self.flow.point(node)
        return point is not None and always(node, self.flow.points[point])

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
            return ReachedCode([target]).may_use(attributes)
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
        if isinstance(node, ast.Attribute) and node.attr in METHODS and (name := ctx.name(node.value)) is not None:
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
        if scaler := scaler_of(ctx, name, uses, mine):
            scalers.append(scaler)
    steps = {step for scaler in scalers for step in scaler.steps}
    others = [n for n in nodes if isinstance(n, ast.Call) and n not in steps]
    itself = [(call, receiver) for call in others if (receiver := stepped(ctx, call)) is not None]
    plain = tuple(call for call, receiver in itself if optimizes(ctx, receiver))
    perhaps = tuple(call for call, _ in itself if call not in plain)
    raw = tuple(b for b in backwards if b not in scaled_ones)
    return Training(ctx, scope, nodes, tuple(scalers), raw, plain, perhaps)


# -- what a backward differentiates


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
