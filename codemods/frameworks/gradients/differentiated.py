"""Where a value is differentiated: followed forward through one function, to a backward call or to the `return` of a
step that a Trainer differentiates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from codemods.frameworks.gradients.losses import KEEPING, REDUCING, Made, reaching, uses, value
from codemods.model.names import LIGHTNING_MODULE, LIGHTNING_SETUP
from codemods.project.index import Ref
from codemods.rules.context import Context, Method
from codemods.syntax import flow
from codemods.syntax.facts import MISSING
from codemods.syntax.rewrite import literal

HF_TRAINER = frozenset({"transformers.Trainer", "transformers.Seq2SeqTrainer", "trl.SFTTrainer", "trl.DPOTrainer"})
_NEUTRAL = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "torch.nn.Module"}) | LIGHTNING_MODULE
_BY_HAND = frozenset({"backward", "manual_backward", "optimizers", "toggle_optimizer"})


@dataclass(frozen=True, slots=True)
class Sink:
    """A place where a value is differentiated."""

    node: cst.Call | cst.Return
    """The backward call, or the `return`."""
    value: cst.BaseExpression
    """The expression that is differentiated there."""
    alone: bool
    """On the way there nothing was added to the value, and it was scaled by numbers only."""
    sure: bool
    """What arrives there is this value and no other."""
    hops: tuple[cst.CSTNode, ...] = ()
    """The assignments on the way."""


DIFFERENTIATING = ("backward", "training_step")
"""Triggers: a function without them differentiates nothing, and no Trainer does it for it."""


def sinks(ctx: Context, node: cst.BaseExpression, depth: int = 4) -> Iterator[Sink]:
    """Where the value of an expression is differentiated, as far as its function shows."""
    yield from _sinks(ctx, node, depth, True, True, ())


def _sinks(
    ctx: Context, node: cst.BaseExpression, depth: int, alone: bool, sure: bool, hops: tuple[cst.CSTNode, ...]
) -> Iterator[Sink]:
    for top, unmixed in climb(ctx, node):
        pure = alone and unmixed
        if (call := backward_of(ctx, top)) is not None:
            yield Sink(call, top, pure, sure, hops)
            return
    if (returned := _returned(ctx, top)) is not None:
        yield Sink(returned, top, pure, sure, hops)
        return
    holder = ctx.parent(top)
    target: cst.BaseExpression | None = None
    match holder:
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=given) if given is top:
            pass
        case cst.AnnAssign(target=target, value=given) if given is top:
            pass
        case cst.AugAssign(target=target, value=given, operator=cst.AddAssign() | cst.SubtractAssign()) if given is top:
            pure = False
        case _:
            return
    if depth == 0 or holder is None or ctx.name(target) is None:
        return
    for use in uses_of(ctx, holder):
        given_by, complete = reaching(ctx, use)
        yield from _sinks(ctx, use, depth - 1, pure, sure and complete and len(given_by) == 1, (*hops, holder))


def climb(ctx: Context, node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """The expression, and those around it that hang on its graph; False once something else joined."""
    unmixed = True
    while True:
        yield node, unmixed
        match ctx.parent(node):
            case cst.Attribute(attr=cst.Name(value=name)) as attribute if name in KEEPING | REDUCING:
                call = ctx.parent(attribute)
                if not isinstance(call, cst.Call) or call.func is not attribute:
                    return
                node = call
            case cst.UnaryOperation(operator=cst.Minus()) as negated:
                node = negated
            case cst.BinaryOperation(left=left, right=right, operator=operator) as sum_:
                other = value(ctx, right if left is node else left).made
                if other is not Made.NUMBER:
                    if not isinstance(operator, (cst.Add, cst.Subtract)) and (left is not node or other is Made.GRAPH):
                        return
                    unmixed = False
                node = sum_
            case cst.Arg(keyword=None, star="") as arg:
                call = ctx.parent(arg)
                if not isinstance(call, cst.Call) or call.args[0] is not arg:
                    return
                if not ctx.means(call.func, frozenset(f"torch.{n}" for n in REDUCING | KEEPING)):
                    return
                node = call
            case _:
                return


def backward_of(ctx: Context, node: cst.BaseExpression) -> cst.Call | None:
    """The backward call that differentiates exactly this expression."""
    for steps, above in enumerate(ctx.ancestors(node)):
        if steps > 4 or isinstance(above, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return None
        if isinstance(above, cst.Call) and ctx.loss_of(above) is node:
            return above
    return None


def seeded(ctx: Context, call: cst.CSTNode) -> bool:
    """Whether a backward call is given a gradient to start from (then it need not differentiate a loss)."""
    if not isinstance(call, cst.Call):
        return False
    loss = ctx.loss_of(call)
    keywords = {"retain_graph", "create_graph", "inputs"}
    return any((a.keyword is None or a.keyword.value not in keywords) and a.value is not loss for a in call.args)


def uses_of(ctx: Context, assignment: cst.CSTNode) -> Iterator[cst.Name | cst.Attribute]:
    """The places in its function that may read what an assignment to one target binds."""
    match assignment:
        case cst.Assign(targets=[cst.AssignTarget(target=target)]):
            pass
        case cst.AnnAssign(target=target) | cst.AugAssign(target=target):
            pass
        case _:
            return
    for use in uses(ctx, ctx.name(target) or "", assignment):
        if any(b.node is assignment for b in reaching(ctx, use)[0]):
            yield use


def forces(ctx: Context, use: cst.BaseExpression) -> bool:
    """Whether a name is used to make its value require gradients: `x.requires_grad = …`, `x.requires_grad_(…)`."""
    attribute = ctx.parent(use)
    if not isinstance(attribute, cst.Attribute) or attribute.value is not use:
        return False
    if attribute.attr.value == "requires_grad_":
        return True
    return attribute.attr.value == "requires_grad" and isinstance(ctx.parent(attribute), cst.AssignTarget)


# -- steps that a Trainer differentiates


def _returned(ctx: Context, node: cst.BaseExpression) -> cst.Return | None:
    """The `return` that hands this expression to a Trainer as its loss."""
    statement = ctx.statement(node)
    function = ctx.function(node)
    if not isinstance(statement, cst.Return) or function is None or ctx.scope(node) is not function:
        return None
    if not loss_position(ctx, node):
        return None
    if function.name.value == "compute_loss":
        method = ctx.method(node)
        ours = method is not None and method.node is function
        return statement if ours and method and ctx.index.descends(method.owner, HF_TRAINER) else None
    return statement if automatic_step(ctx, node) else None


def loss_position(ctx: Context, node: cst.CSTNode) -> bool:
    """Whether `node` is what is returned, its `"loss"`, or the first of a tuple."""
    below = node
    for above in ctx.ancestors(node):
        match above:
            case cst.Return():
                return True
            case cst.IfExp(test=test) if below is not test:
                pass
            case cst.DictElement(key=key) if below is not key and literal(key) == "loss":
                pass
            case cst.Element() | cst.Dict():
                pass
            case cst.Tuple(elements=[first, *_]) if first is below and ctx.function(node) is not None:
                if ctx.function(node).name.value != "compute_loss":  # type: ignore[union-attr]
                    return False
            case cst.Arg(keyword=cst.Name(value="loss")):
                pass
            case cst.Call() if ctx.name(above.func) == "dict":
                pass
            case _:
                return False
        below = above
    return False


def automatic_step(ctx: Context, node: cst.CSTNode, name: str = "training_step") -> Method | None:
    """The `training_step` around `node`, if it is a LightningModule's and surely optimized automatically."""
    method = ctx.method(node)
    if method is None or method.name != name or ctx.scope(node) not in (method.node, method.klass):
        return None
    return method if is_automatic(ctx, method.owner) else None


def is_automatic(ctx: Context, owner: Ref) -> bool:
    """Whether a class is surely a LightningModule in automatic optimization, with an optimizer: nothing in its lineage
    steps by hand."""
    lineage = ctx.index.lineage(owner)
    if not lineage.complete or not lineage.external & LIGHTNING_MODULE or lineage.external - _NEUTRAL:
        return False
    related = [owner, *ctx.index.subclasses(owner)]
    if not all(_left_automatic(ctx, ref) for ref in related) or not _has_optimizer(ctx, owner):
        return False
    return not any(_steps_by_hand(ctx, ref) for ref in {*lineage.refs, *related})


def _left_automatic(ctx: Context, owner: Ref) -> bool:
    setting = ctx.index.constant(owner, "automatic_optimization", LIGHTNING_SETUP)
    return setting is True or setting is MISSING


def _has_optimizer(ctx: Context, owner: Ref) -> bool:
    """Whether the class configures an optimizer."""
    definer = ctx.index.method(owner, "configure_optimizers")
    other = ctx.other(definer.path) if definer else None
    found = other.definition(f"{definer.name}.configure_optimizers") if other and definer else None
    return found is not None and any(isinstance(n, cst.Return) and handed(n) for n in flow.own(found[1].body))


def handed(statement: cst.Return) -> cst.BaseExpression | None:
    """What a `return` hands over, if it is not None."""
    value = statement.value
    return None if isinstance(value, cst.Name) and value.value == "None" else value


def _steps_by_hand(ctx: Context, ref: Ref) -> bool:
    other = ctx.other(ref.path)
    if other is None:
        return True
    for klass in other.classes(ref.name):
        for node in other.all(cst.Call, *_BY_HAND):
            name = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
            if name in _BY_HAND and klass in other.ancestors(node):
                return True
    return False
