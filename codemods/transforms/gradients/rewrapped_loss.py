"""A loss that is copied into a new tensor before it is differentiated: `torch.tensor(loss, requires_grad=True)`.

## Why is this bad?
`torch.tensor(loss)`, `Variable(loss)` and `torch.tensor([loss_a, loss_b])` copy the value and leave the graph behind.
Without `requires_grad=True` the backward pass says so:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

With it, the usual advice for that message, nothing is said any more and **nothing trains**: the copy is a leaf, it
gets the gradient 1, and no parameter of the model gets any. The same on every version run (torch 2.0.1 to 2.13). The
only hint may be `UserWarning: To copy construct from a tensor, it is recommended to use
sourceTensor.detach().clone()`; it appears for healthy code too, and following it does not help here.

## Fix safety
The loss takes the place of its copy (with `dtype=` and `device=` as `.to(…)`); a list of losses becomes `torch.stack`,
which keeps the graph of each. Safe where every loss is seen, in the same function, to come from a loss of PyTorch with
a graph behind it, where a list holds single numbers of that kind only, and where the function has one backward pass: a
second one could want the same graph, which the first one frees. Otherwise unsafe: a value that is a plain number has no
`backward`, and `torch.stack` wants tensors of one shape.

## When it is not offered
Where the value is surely a plain number (`.item()` into a variable, `float(…)`): reported, because the cut lies there,
and no rewriting of this line brings the graph back. Not for `torch.as_tensor(loss)` and `torch.Tensor(loss)`, which
keep the graph, not where the copy is a factor of something else (a weight made from losses), and not where the
gradient of the copy itself is read. Reported without a fix where the function also returns the loss that is copied:
its caller may differentiate it, and a graph can be differentiated once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from codemods.frameworks.gradients.differentiated import DIFFERENTIATING, Sink, forces, seeded, sinks, uses_of
from codemods.frameworks.gradients.losses import REDUCING, UNKNOWN, Made, Value, elements, named, uses, value
from codemods.frameworks.gradients.removal import without_assignment
from codemods.model.edits import Consequence, Safety
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax import flow
from codemods.syntax.rewrite import (
    Replacement,
    has_splat,
    keyword,
    literal,
    make_argument,
    parenthesized,
    positional,
    unparenthesized,
)

COPIES = frozenset({"torch.tensor", "torch.autograd.Variable"})
_REDUCTIONS = frozenset(f"torch.{name}" for name in REDUCING)
OF_LISTS = named("torch", "tensor FloatTensor DoubleTensor Tensor as_tensor asarray")

_SITES = ("tensor", "as_tensor", "asarray", "Tensor", "FloatTensor", "DoubleTensor", "Variable")

rule = Rule(
    code="GRD001",
    name="rewrapped-loss",
    summary="the loss is copied into a new tensor, which leaves its graph behind",
    fix_title="Differentiate the loss itself",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    triggers=(_SITES, (*DIFFERENTIATING, "compute_loss")),
    together=(_SITES, (*DIFFERENTIATING, "compute_loss", "requires_grad", "Variable")),
    errors=(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()",
    ),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.tensor.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.stack.html",
    ),
)


@rule.on(cst.Call)
def rewrapped(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if has_splat(call) or not ctx.means(call.func, COPIES | OF_LISTS):
        return
    given = keyword(call, "data") or positional(call, 0)
    if given is None:
        return
    losses = elements(given.value, ctx)
    if losses is not None:
        yield from _several(call, given, losses, ctx)
    elif ctx.means(call.func, COPIES):
        yield from _single(call, given, ctx)


# -- one loss


def _single(call: cst.Call, given: cst.Arg, ctx: Context) -> Iterator[Draft]:
    loss, peeled = _source(given.value)
    if literal(loss) is not ...:
        return
    found = value(ctx, loss)
    sink = _sink(call, [found], peeled, ctx)
    returned = sink is None and leaf(call) and found.made is not Made.NUMBER and _handed_back(call, ctx)
    if sink is None and not returned:
        return
    spoken = f"`{name}`" if (name := ctx.name(loss)) else "the loss"
    message = f"`{ctx.name(call.func)}(…)` copies {spoken} out of its graph, so {_effect(call)}"
    if found.made is Made.NUMBER:
        message = f"`{ctx.name(call.func)}(…)` makes a tensor of a plain number, so {_effect(call)}"
    elif found.made is Made.CUT:
        message = f"`{ctx.name(call.func)}(…)` copies {spoken}, which is cut from its graph before, so {_effect(call)}"
    moved = _converted(call, given, loss, ctx)
    named_loss = "loss" in (ctx.name(loss) or "").lower()
    if returned and found.made is not Made.GRAPH:
        if named_loss:
            yield rule.finding(call, consequence=_consequence(call), message=message)
        return
    if moved is None or found.made in (Made.NUMBER, Made.CUT):
        yield rule.finding(call, consequence=_consequence(call), message=message)
        return
    if sink is not None and _is_handed_on(loss, ctx):
        yield rule.finding(
            call,
            consequence=_consequence(call),
            message=f"{message}; the loss itself is returned, and differentiating it twice fails",
        )
        return
    fix: dict[cst.CSTNode, Replacement] = {call: moved}
    if (holder := ctx.parent(call)) is not None and isinstance(moved, cst.Name | cst.Attribute):
        fix = without_assignment(ctx, holder, moved, call) or fix
    safe = found.made is Made.GRAPH and sink is not None and ".item()" not in peeled and _only_backward(sink, ctx)
    yield rule.finding(
        call, consequence=_consequence(call), message=message, fix=fix, safety=Safety.SAFE if safe else Safety.UNSAFE
    )


def _source(node: cst.BaseExpression) -> tuple[cst.BaseExpression, tuple[str, ...]]:
    """The loss in `loss.detach().item()`, and what was peeled off."""
    peeled: tuple[str, ...] = ()
    while True:
        match node:
            case cst.Call(
                func=cst.Attribute(value=inner, attr=cst.Name(value="item" | "detach" | "cpu" as n)), args=[]
            ):
                node, peeled = inner, (*peeled, f".{n}()")
            case cst.Attribute(value=inner, attr=cst.Name(value="data")):
                node, peeled = inner, (*peeled, ".data")
            case _:
                return node, peeled


def _converted(call: cst.Call, given: cst.Arg, loss: cst.BaseExpression, ctx: Context) -> cst.BaseExpression | None:
    """The loss in place of its copy, moved to the device and type that the copy had."""
    kept = [a for a in call.args if a is not given]
    if ctx.means(call.func, "torch.autograd.Variable"):
        kept = [a for a in kept if a.keyword is not None]
    kept = [a for a in kept if a.keyword is None or a.keyword.value not in ("requires_grad", "volatile", "pin_memory")]
    if any(a.keyword is None or a.keyword.value not in ("dtype", "device") for a in kept):
        return None
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))
        return cst.Call(cst.Attribute(parenthesized(loss), cst.Name("to")), kept, lpar=call.lpar, rpar=call.rpar)
    if call.lpar:
        return loss.with_changes(lpar=[*call.lpar, *loss.lpar], rpar=[*loss.rpar, *call.rpar])
    tight = (cst.Attribute, cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)
    return parenthesized(loss) if isinstance(ctx.parent(call), tight) else loss


def _handed_back(call: cst.Call, ctx: Context) -> bool:
    """Whether a function returns the copy itself, and is not one that autograd calls."""
    method = ctx.method(call)
    if method and ctx.index.descends(method.owner, frozenset({"torch.autograd.Function"})) is not False:
        if ctx.index.descends(method.owner, frozenset({"torch.nn.Module"})) is not True:
            return False
    function = ctx.function(call)
    if function is None or (method is None and ctx.klass(call) is not None):
        return False
    holder = ctx.parent(call)
    if isinstance(holder, cst.Return):
        return True
    if isinstance(holder, cst.Assign) and len(holder.targets) == 1 and (name := ctx.name(holder.targets[0].target)):
        read = list(uses(ctx, name, holder))
        return len(read) > 0 and all(
            isinstance(ctx.parent(use), cst.Return) for use in read if _after(use, holder, ctx)
        )
    return False


def _after(use: cst.CSTNode, holder: cst.CSTNode, ctx: Context) -> bool:
    return flow.reaches(ctx.parents, holder, use)


# -- several losses


def _several(call: cst.Call, given: cst.Arg, losses: Sequence[cst.BaseExpression], ctx: Context) -> Iterator[Draft]:
    found = [value(ctx, loss) for loss in losses]
    kinds = {f.made for f in found}
    if (
        not kinds
        or kinds <= {Made.NUMBER, Made.CUT}
        or any(literal(loss) is not ... for loss in losses if len(kinds) == 1)
    ):
        return
    if Made.GRAPH not in kinds and (leaf(call) or Made.NUMBER in kinds or Made.CUT in kinds):
        return
    sink = _sink(call, found, (), ctx)
    if sink is None:
        return
    message = f"`{ctx.name(call.func)}([…])` copies the losses out of their graphs, so {_effect(call)}"
    stack = ctx.spell("torch.stack", at=call)
    kept = [a for a in call.args if a is not given and (a.keyword is None or a.keyword.value != "requires_grad")]
    odd = any(a.keyword is None or a.keyword.value not in ("dtype", "device") for a in kept)
    if stack is None or odd or kinds & {Made.NUMBER, Made.CUT}:
        yield rule.finding(call, consequence=_consequence(call), message=message)
        return
    moved: cst.Call = cst.Call(stack.node, [make_argument(None, unparenthesized(given.value))])
    if isinstance(given.value, cst.Tuple):
        moved = cst.Call(stack.node, [make_argument(None, given.value)])
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))
        moved = cst.Call(cst.Attribute(moved, cst.Name("to")), kept)
    elif len(call.args) == 1:
        moved = call.with_changes(func=stack.node)
    safe = kinds == {Made.GRAPH} and all(f.scalar for f in found) and _only_backward(sink, ctx)
    yield rule.finding(
        call,
        consequence=_consequence(call),
        message=message,
        title="Stack the losses",
        fix={call: moved.with_changes(lpar=call.lpar, rpar=call.rpar)},
        needs=[stack.need],
        safety=Safety.SAFE if safe else Safety.UNSAFE,
    )


# -- what becomes of the copy


def _sink(call: cst.Call, found: Sequence[Value], peeled: tuple[str, ...], ctx: Context) -> Sink | None:
    """Where the copy is differentiated as a loss."""
    known_losses = any(f.made is Made.GRAPH for f in found)
    for sink in sinks(ctx, call):
        if seeded(ctx, sink.node) or any(_touched(ctx, use) for hop in sink.hops for use in uses_of(ctx, hop)):
            continue
        if known_losses and (sink.alone or not peeled):
            return sink
        reduced = len(found) == 1 and found[0] == UNKNOWN and _is_reduced(call, sink, ctx)
        again = bool(sink.hops) and _names_itself(sink.hops[0], call, ctx)
        if sink.alone and (sink.sure or again) and not reduced:
            return sink
    return None


def _names_itself(hop: cst.CSTNode, call: cst.Call, ctx: Context) -> bool:
    """Whether the copy takes the name of what it copies: `loss = torch.tensor(loss)`."""
    if not isinstance(hop, cst.Assign) or not call.args or len(hop.targets) != 1:
        return False
    name = ctx.name(hop.targets[0].target)
    return hop.value is call and name is not None and name == ctx.name(_source(call.args[0].value)[0])


def _only_backward(sink: Sink, ctx: Context) -> bool:
    """Whether no other backward pass of the function may want the same graph, which the first one frees."""
    return not any(
        ctx.loss_of(other) is not None and flow.order(ctx.parents, other, sink.node) is not flow.Order.EXCLUSIVE
        for other in flow.own(ctx.scope(sink.node))
        if isinstance(other, cst.Call) and other is not sink.node
    )


def _is_handed_on(loss: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the function returns the loss that was copied: its caller may differentiate it, which frees its graph."""
    name = ctx.name(loss)
    returns = (node for node in flow.own(ctx.scope(loss)) if isinstance(node, cst.Return))
    return name is not None and any(
        ctx.name(node) == name and not _is_cut(ctx, node)
        for r in returns
        if (given := r.value) is not None
        for node in (given, *flow.own(given))
    )


def _is_cut(ctx: Context, use: cst.CSTNode) -> bool:
    """Whether a value is used without its graph: `loss.detach()`, `loss.item()`."""
    parent = ctx.parent(use)
    return isinstance(parent, cst.Attribute) and parent.attr.value in ("detach", "item", "data", "cpu")


def _touched(ctx: Context, use: cst.BaseExpression) -> bool:
    """Whether the copy's own gradient is read, or it is made to require one (which another rule speaks of)."""
    parent = ctx.parent(use)
    return forces(ctx, use) or (isinstance(parent, cst.Attribute) and parent.attr.value == "grad")


def _is_reduced(call: cst.Call, sink: Sink, ctx: Context) -> bool:
    """Whether the copy is summed up on its way: then it may well be data, not a loss."""
    ends = [call, *flow.own(sink.value), sink.value]
    around = [a for a in ctx.ancestors(call) if isinstance(a, cst.BaseExpression)]
    return any(
        (isinstance(n, cst.Attribute) and n.attr.value in REDUCING) or ctx.calls(n, _REDUCTIONS)
        for n in (*ends, *around)
    )


def leaf(call: cst.Call) -> bool:
    """Whether the copy is made to require gradients."""
    given = keyword(call, "requires_grad") or positional(call, 1)
    return given is not None and literal(given.value) is not False


def _consequence(call: cst.Call) -> Consequence:
    return Consequence.SILENT if leaf(call) else Consequence.RAISES


def _effect(call: cst.Call) -> str:
    return "no parameter gets a gradient" if leaf(call) else "there is nothing to differentiate"
