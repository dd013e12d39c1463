"""Where a value is differentiated: followed forward through one function, to a backward call or to the `return` of a
step that a Trainer differentiates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codemods.analysis.calls import keyword, literal
from codemods.analysis.definitions import reaching, uses_of
from codemods.analysis.python_context import Method, PythonContext
from codemods.frameworks.gradients.losses import KEEPING, REDUCING, LossOrigin, value
from codemods.model.names import LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.project.index import Ref
from codemods.syntax.facts import MISSING
from codemods.syntax.module import is_none, own

HF_TRAINER = frozenset({"transformers.Trainer", "transformers.Seq2SeqTrainer", "trl.SFTTrainer", "trl.DPOTrainer"})
_NEUTRAL = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "torch.nn.Module"}) | LIGHTNING_MODULE
_BY_HAND = frozenset({"backward", "manual_backward", "optimizers", "toggle_optimizer"})


@dataclass(frozen=True, slots=True)
class Sink:
    """A place where a value is differentiated."""

    node: ast.Call | ast.Return
    """The backward call, or the `return`."""
    value: ast.expr
    """The expression that is differentiated there."""
    alone: bool
    """On the way there nothing was added to the value, and it was scaled by numbers only."""
    sure: bool
    """What arrives there is this value and no other."""
    hops: tuple[ast.stmt, ...] = ()
    """The assignments on the way."""


_KEEPING = ("retain_graph", "create_graph")
BUDGET = 10_000
"""Steps for one question, on all ways together: ways are many where each of many branches adds to a loss."""
DIFFERENTIATING = ("backward", "training_step")
"""Triggers: a function without them differentiates nothing, and no Trainer does it for it."""


def sinks(ctx: PythonContext, node: ast.expr, depth: int = 4) -> Iterator[Sink]:
    """Where the value of an expression is differentiated, as far as its function shows, in the order of its uses."""
    waiting = [_Followed(node, depth)]
    for _ in range(BUDGET):
        if not waiting:
            return
        at = waiting.pop()
        step = _step(ctx, at.node)
        pure = at.alone and step.alone
        if step.sink is not None:
            yield Sink(step.sink, step.value, pure, at.sure, at.hops)
        elif step.hop is not None and at.depth:
            hops = (*at.hops, step.hop)
            uses = [_Followed(use, at.depth - 1, pure, at.sure and sure, hops) for use, sure in _read(ctx, step.hop)]
            waiting += reversed(uses)


@dataclass(frozen=True, slots=True)
class _Followed:
    """An expression that the value has reached, and the way there."""

    node: ast.expr
    depth: int
    """Assignments that may still be followed."""
    alone: bool = True
    sure: bool = True
    hops: tuple[ast.stmt, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    """What becomes of an expression: it is differentiated, or assigned, or neither is seen."""

    value: ast.expr
    alone: bool
    sink: ast.Call | ast.Return | None = None
    hop: ast.stmt | None = None


def _step(ctx: PythonContext, node: ast.expr) -> _Step:
    key = (_step, node)
    if key not in ctx.memo:
        ctx.memo[key] = _next(ctx, node)
    found: _Step = ctx.memo[key]
    return found


def _next(ctx: PythonContext, node: ast.expr) -> _Step:
    for top, alone in climb(ctx, node):
        if (call := backward_of(ctx, top)) is not None:
            return _Step(top, alone, sink=call)
    if (returned := _returned(ctx, top)) is not None:
        return _Step(top, alone, sink=returned)
    holder = ctx.parent(top)
    match holder:
        case ast.Assign(targets=[target], value=given) if given is top:
            pass
        case ast.AnnAssign(target=target, value=given) if given is top:
            pass
        case ast.AugAssign(target=target, value=given, op=ast.Add() | ast.Sub()) if given is top:
            alone = False
        case _:
            return _Step(top, alone)
    return _Step(top, alone, hop=holder if ctx.name(target) is not None else None)


def _read(ctx: PythonContext, holder: ast.stmt) -> Sequence[tuple[ast.expr, bool]]:
    """The uses of what an assignment binds, each with whether nothing else may be used there."""
    key = (_read, holder)
    if key not in ctx.memo:
        given = [(use, *reaching(ctx, use)) for use in uses_of(ctx, holder)]
        ctx.memo[key] = [(use, complete and len(bindings) == 1) for use, bindings, complete in given]
    found: Sequence[tuple[ast.expr, bool]] = ctx.memo[key]
    return found


def climb(ctx: PythonContext, node: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """The expression, and those around it that hang on its graph; False once something else joined."""
    unmixed = True
    while True:
        yield node, unmixed
        match ctx.parent(node):
            case ast.Attribute(attr=name) as attribute if name in KEEPING | REDUCING:
                call = ctx.parent(attribute)
                if not isinstance(call, ast.Call) or call.func is not attribute:
                    return
                node = call
            case ast.UnaryOp(op=ast.USub()) as negated:
                node = negated
            case ast.BinOp(left=left, right=right, op=operator) as sum_:
                other = value(ctx, right if left is node else left).made
                if other is not LossOrigin.NUMBER:
                    if not isinstance(operator, (ast.Add, ast.Sub)) and (left is not node or other is LossOrigin.GRAPH):
                        return
                    unmixed = False
                node = sum_
            case ast.Call(args=[first, *_]) as call if first is node:
                if not ctx.means(call.func, frozenset(f"torch.{n}" for n in REDUCING | KEEPING)):
                    return
                node = call
            case _:
                return


def differentiated_in(ctx: PythonContext, loss: ast.Name, loop: ast.AST) -> ast.Call | None:
    """The backward pass in a loop, or a function, that differentiates the value of a name and frees its graph."""
    bound = {each.node for each in reaching(ctx, loss)[0]}
    for call in own(loop):
        given = ctx.loss_of(call)
        if given is None or not isinstance(call, ast.Call):
            continue
        if any(literal(keyword(call, each)) is not False for each in _KEEPING if keyword(call, each) is not None):
            continue
        for node in ast.walk(given):
            if isinstance(node, ast.Name) and node.id == loss.id and {e.node for e in reaching(ctx, node)[0]} == bound:
                return call
    return None


def backward_of(ctx: PythonContext, node: ast.expr) -> ast.Call | None:
    """The backward call that differentiates exactly this expression."""
    for steps, above in enumerate(ctx.ancestors(node)):
        if steps > 4 or isinstance(above, ast.stmt):
            return None
        if isinstance(above, ast.Call) and ctx.loss_of(above) is node:
            return above
    return None


def seeded(ctx: PythonContext, call: ast.AST) -> bool:
    """Whether a backward call is given a gradient to start from (then it need not differentiate a loss)."""
    if not isinstance(call, ast.Call):
        return False
    loss = ctx.loss_of(call)
    keywords = {"retain_graph", "create_graph", "inputs"}
    unnamed = [*call.args, *(k.value for k in call.keywords if k.arg not in keywords)]
    return any(each is not loss for each in unnamed)


def forces(ctx: PythonContext, use: ast.expr) -> bool:
    """Whether a name is used to make its value require gradients: `x.requires_grad = …`, `x.requires_grad_(…)`."""
    attribute = ctx.parent(use)
    if not isinstance(attribute, ast.Attribute):
        return False
    if attribute.attr == "requires_grad_":
        return True
    return attribute.attr == "requires_grad" and isinstance(attribute.ctx, ast.Store)


# -- steps that a Trainer differentiates


def _returned(ctx: PythonContext, node: ast.expr) -> ast.Return | None:
    """The `return` that hands this expression to a Trainer as its loss."""
    statement = ctx.statement(node)
    function = ctx.function(node)
    if not isinstance(statement, ast.Return) or function is None or ctx.scope(node) is not function:
        return None
    if not loss_position(ctx, node):
        return None
    if function.name == "compute_loss":
        method = ctx.method(node)
        ours = method is not None and method.node is function
        return statement if ours and method and ctx.index.descends(method.owner, HF_TRAINER) else None
    return statement if automatic_step(ctx, node) else None


def loss_position(ctx: PythonContext, node: ast.AST) -> bool:
    """Whether `node` is what is returned, its `"loss"`, or the first of a tuple."""
    below = node
    for above in ctx.ancestors(node):
        match above:
            case ast.Return():
                return True
            case ast.IfExp(test=test) if below is not test:
                pass
            case ast.Dict(keys=keys, values=held) if any(
                value is below and literal(key) == "loss" for key, value in zip(keys, held, strict=True)
            ):
                pass
            case ast.Tuple(elts=[first, *_]) if first is below and (function := ctx.function(node)) is not None:
                if function.name != "compute_loss":
                    return False
            case ast.keyword(arg="loss"):
                pass
            case ast.Call() if ctx.name(above.func) == "dict":
                pass
            case _:
                return False
        below = above
    return False


def automatic_step(ctx: PythonContext, node: ast.AST, name: str = "training_step") -> Method | None:
    """The `training_step` around `node`, if it is a LightningModule's and surely optimized automatically."""
    method = ctx.method(node)
    if method is None or method.name != name or ctx.scope(node) not in (method.node, method.klass):
        return None
    return method if is_automatic(ctx, method.owner) else None


def is_automatic(ctx: PythonContext, owner: Ref) -> bool:
    """Whether a class is surely a LightningModule in automatic optimization, with an optimizer: nothing in its lineage
    steps by hand, nor differentiates in its own way (`own_backward`).
    """
    lineage = ctx.index.lineage(owner)
    if not lineage.complete or not lineage.external & LIGHTNING_MODULE or lineage.external - _NEUTRAL:
        return False
    related = [owner, *ctx.index.subclasses(owner)]
    if not all(_left_automatic(ctx, ref) for ref in related) or not _has_optimizer(ctx, owner):
        return False
    if any(ctx.index.method(ref, "backward") is not None for ref in related):
        return False
    return not any(_steps_by_hand(ctx, ref) for ref in {*lineage.refs, *related})


def _left_automatic(ctx: PythonContext, owner: Ref) -> bool:
    setting = ctx.index.constant(owner, "automatic_optimization", LIGHTNING_SETUP)
    return setting is True or setting is MISSING


def _has_optimizer(ctx: PythonContext, owner: Ref) -> bool:
    """Whether the class configures an optimizer."""
    found = ctx.method_of(owner, "configure_optimizers")
    return found is not None and any(isinstance(n, ast.Return) and handed(n) for n in own(found[1]))


def handed(statement: ast.Return) -> ast.expr | None:
    """What a `return` hands over, if it is not None."""
    return None if is_none(statement.value) else statement.value


def _steps_by_hand(ctx: PythonContext, ref: Ref) -> bool:
    other = ctx.other(ref.path)
    if other is None:
        return True
    for klass in other.classes(ref.name):
        for node in ast.walk(klass):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _BY_HAND:
                return True
    return False
