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
`backward`, and `torch.stack` wants tensors of one shape. Unsafe, too, where something else that hangs on the graph is
returned, kept or handed on: who has it may differentiate it, or copy it. Possible where code of the project puts
gradients into `.grad`.

## When it is not offered
Where the value is surely a plain number (`.item()` into a variable, `float(…)`): reported, because the cut lies there,
and no rewriting of this line brings the graph back. Not for `torch.as_tensor(loss)` and `torch.Tensor(loss)`, which
keep the graph, not where the copy is a factor of something else (a weight made from losses), and not where the
gradient of the copy itself is read. Reported without a fix where the function also returns the loss that is copied:
its caller may differentiate it, and a graph can be differentiated once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis.calls import argument, has_splat, literal, values
from codemods.analysis.definitions import uses, uses_of
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import elements
from codemods.flow.answers import unknown
from codemods.frameworks.gradients.differentiated import DIFFERENTIATING, Sink, forces, seeded, sinks
from codemods.frameworks.gradients.losses import REDUCING, UNKNOWN, LossOrigin, LossValue, named, value
from codemods.frameworks.gradients.questions import (
    copy_is_not_handed_on,
    copy_is_not_trained,
    gradients_are_recorded,
    graph_is_differentiated_once,
    graph_stays_here,
    is_cut_there,
    loss_has_a_graph,
    loss_is_not_kept,
    losses_are_single_numbers,
    nobody_makes_gradients,
    nobody_writes_weights,
)
from codemods.frameworks.gradients.removal import without_assignment
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import own
from codemods.syntax.verbs import Verb, edit_call, replace

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
    follows=True,
    computed=Computed.NOTHING,
    triggers=(_SITES, (*DIFFERENTIATING, "compute_loss")),
    errors=(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone()",
    ),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.tensor.html",
        "https://docs.pytorch.org/docs/stable/generated/torch.stack.html",
    ),
)


@rule.on(ast.Call)
def rewrapped(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(call) or not ctx.means(call.func, COPIES | OF_LISTS):
        return
    given = argument(call, "data", 0)
    if given is None:
        return
    losses = elements(ctx, given)
    if losses is not None:
        yield from _several(call, given, losses, ctx)
    elif ctx.means(call.func, COPIES):
        yield from _single(call, given, ctx)


# -- one loss


def _single(call: ast.Call, given: ast.expr, ctx: PythonContext) -> Iterator[Draft]:
    loss, peeled = _source(given)
    if literal(loss) is not ...:
        return
    found = value(ctx, loss)
    sink = _sink(call, [found], peeled, ctx)
    returned = sink is None and leaf(call) and found.made is not LossOrigin.NUMBER and _handed_back(call, ctx)
    if sink is None and not returned:
        return
    spoken = f"`{name}`" if (name := ctx.name(loss)) else "the loss"
    message = f"`{ctx.name(call.func)}(…)` copies {spoken} out of its graph, so {_effect(call)}"
    if found.made is LossOrigin.NUMBER:
        message = f"`{ctx.name(call.func)}(…)` makes a tensor of a plain number, so {_effect(call)}"
    elif found.made is LossOrigin.CUT:
        message = f"`{ctx.name(call.func)}(…)` copies {spoken}, which is cut from its graph before, so {_effect(call)}"
    moved = _converted(call, given, loss, ctx)
    named_loss = "loss" in (ctx.name(loss) or "").lower()
    caller = ctx.evidence(call, "who differentiates what is returned is not in sight")
    is_bug = [nobody_makes_gradients(ctx), *([unknown(caller)] if sink is None else [])]
    if leaf(call):
        is_bug += [nobody_writes_weights(ctx, call), copy_is_not_trained(ctx, call)]
    if returned and found.made is not LossOrigin.GRAPH:
        if named_loss:
            yield rule.finding(call, consequence=_consequence(call), message=message, is_bug=is_bug)
        return
    if moved is None or found.made in (LossOrigin.NUMBER, LossOrigin.CUT):
        yield rule.finding(call, consequence=_consequence(call), message=message, is_bug=is_bug)
        return
    if sink is not None and _is_handed_on(loss, ctx):
        yield rule.finding(
            call,
            consequence=_consequence(call),
            message=f"{message}; the loss itself is returned, and differentiating it twice fails",
            is_bug=is_bug,
        )
        return
    fix = replace(call, moved)
    if (holder := ctx.parent(call)) is not None and moved == ctx.name(loss):
        fix = without_assignment(ctx, holder, loss, call) or fix
    is_right = [loss_has_a_graph(ctx, [loss]), gradients_are_recorded(ctx, [loss])]
    if sink is not None:
        is_bug += [loss_is_not_kept(ctx, [loss]), copy_is_not_handed_on(ctx, sink)]
    if ".item()" in peeled:
        is_right.append(unknown(ctx.evidence(given, "a number may be meant here")))
    if sink is not None:
        is_right.append(graph_is_differentiated_once(ctx, sink, call, [loss]))
        is_right.append(graph_stays_here(ctx, ctx.scope(call), sink.node))
    yield rule.finding(
        call, consequence=_consequence(call), message=message, fix=[fix], is_bug=is_bug, is_right=is_right
    )


def _source(node: ast.expr) -> tuple[ast.expr, tuple[str, ...]]:
    """The loss in `loss.detach().item()`, and what was peeled off."""
    peeled: tuple[str, ...] = ()
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="item" | "detach" | "cpu" as n), args=[], keywords=[]):
                node, peeled = inner, (*peeled, f".{n}()")
            case ast.Attribute(value=inner, attr="data"):
                node, peeled = inner, (*peeled, ".data")
            case _:
                return node, peeled


def _converted(call: ast.Call, given: ast.expr, loss: ast.expr, ctx: PythonContext) -> str | None:
    """The loss in place of its copy, moved to the device and type that the copy had."""
    kept = _moving(call, given, ctx)
    if kept is None:
        return None
    return f"{ctx.operand(loss)}.to({', '.join(kept)})" if kept else ctx.operand(loss)


def _moving(call: ast.Call, given: ast.expr, ctx: PythonContext) -> list[str] | None:
    """The `dtype=` and `device=` of a copy; None where it is given something else that matters."""
    others = [k for k in call.keywords if k.value is not given]
    others = [k for k in others if k.arg not in ("requires_grad", "volatile", "pin_memory")]
    by_position = [a for a in call.args if a is not given]
    if by_position and not ctx.means(call.func, "torch.autograd.Variable"):
        return None
    return [ctx.source(k) for k in others] if all(k.arg in ("dtype", "device") for k in others) else None


def _handed_back(call: ast.Call, ctx: PythonContext) -> bool:
    """Whether a function returns the copy itself, and is not one that autograd calls."""
    method = ctx.method(call)
    if method and ctx.index.descends(method.owner, frozenset({"torch.autograd.Function"})) is not False:
        if ctx.index.descends(method.owner, frozenset({"torch.nn.Module"})) is not True:
            return False
    function = ctx.function(call)
    if function is None or (method is None and ctx.klass(call) is not None):
        return False
    holder = ctx.parent(call)
    if isinstance(holder, ast.Return):
        return True
    if isinstance(holder, ast.Assign) and len(holder.targets) == 1 and (name := ctx.name(holder.targets[0])):
        read = list(uses(ctx, name, holder))
        return len(read) > 0 and all(
            isinstance(ctx.parent(use), ast.Return) for use in read if _after(use, holder, ctx)
        )
    return False


def _after(use: ast.AST, holder: ast.AST, ctx: PythonContext) -> bool:
    return ctx.flow_of(ctx.scope(use)).reaches(holder, use)


# -- several losses


def _several(call: ast.Call, given: ast.expr, losses: Sequence[ast.expr], ctx: PythonContext) -> Iterator[Draft]:
    found = [value(ctx, loss) for loss in losses]
    kinds = {f.made for f in found}
    if (
        not kinds
        or kinds <= {LossOrigin.NUMBER, LossOrigin.CUT}
        or any(literal(loss) is not ... for loss in losses if len(kinds) == 1)
    ):
        return
    if LossOrigin.GRAPH not in kinds and (leaf(call) or LossOrigin.NUMBER in kinds or LossOrigin.CUT in kinds):
        return
    sink = _sink(call, found, (), ctx)
    if sink is None:
        return
    message = f"`{ctx.name(call.func)}([…])` copies the losses out of their graphs, so {_effect(call)}"
    stack, moving = ctx.spell("torch.stack", at=call), _moving(call, given, ctx)
    if stack is None or moving is None or kinds & {LossOrigin.NUMBER, LossOrigin.CUT}:
        yield rule.finding(call, consequence=_consequence(call), message=message)
        return
    is_right = [
        loss_has_a_graph(ctx, losses),
        gradients_are_recorded(ctx, losses),
        losses_are_single_numbers(ctx, losses),
        graph_is_differentiated_once(ctx, sink, call, losses),
        graph_stays_here(ctx, ctx.scope(call), sink.node),
    ]
    yield rule.finding(
        call,
        consequence=_consequence(call),
        message=message,
        title="Stack the losses",
        fix=[_stacked(call, given, stack.code, moving, ctx)],
        needs=[stack.need],
        is_right=is_right,
    )


def _stacked(call: ast.Call, given: ast.expr, stack: str, moving: Sequence[str], ctx: PythonContext) -> Verb:
    """`torch.stack([…])` in place of the copy, moved to the device and type that the copy had."""
    if len(values(call)) == 1:
        return edit_call(call, function=stack)
    moved = f".to({', '.join(moving)})" if moving else ""
    return replace(call, f"{stack}({ctx.source(given)}){moved}")


# -- what becomes of the copy


def _sink(call: ast.Call, found: Sequence[LossValue], peeled: tuple[str, ...], ctx: PythonContext) -> Sink | None:
    """Where the copy is differentiated as a loss."""
    known_losses = any(f.made is LossOrigin.GRAPH for f in found)
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


def _names_itself(hop: ast.AST, call: ast.Call, ctx: PythonContext) -> bool:
    """Whether the copy takes the name of what it copies: `loss = torch.tensor(loss)`."""
    if not isinstance(hop, ast.Assign) or not values(call) or len(hop.targets) != 1:
        return False
    name = ctx.name(hop.targets[0])
    return hop.value is call and name is not None and name == ctx.name(_source(values(call)[0])[0])


def _is_handed_on(loss: ast.expr, ctx: PythonContext) -> bool:
    """Whether the function returns the loss that was copied: its caller may differentiate it, which frees its graph."""
    name = ctx.name(loss)
    returns = (node for node in own(ctx.scope(loss)) if isinstance(node, ast.Return))
    return name is not None and any(
        ctx.name(node) == name and not is_cut_there(ctx, node)
        for r in returns
        if (given := r.value) is not None
        for node in (given, *own(given))
    )


def _touched(ctx: PythonContext, use: ast.expr) -> bool:
    """Whether the copy's own gradient is read, or it is made to require one (which another rule speaks of)."""
    parent = ctx.parent(use)
    return forces(ctx, use) or (isinstance(parent, ast.Attribute) and parent.attr == "grad")


def _is_reduced(call: ast.Call, sink: Sink, ctx: PythonContext) -> bool:
    """Whether the copy is summed up on its way: then it may well be data, not a loss."""
    ends = [call, *own(sink.value), sink.value]
    around = [a for a in ctx.ancestors(call) if isinstance(a, ast.expr)]
    return any(
        (isinstance(n, ast.Attribute) and n.attr in REDUCING) or ctx.calls(n, _REDUCTIONS) for n in (*ends, *around)
    )


def leaf(call: ast.Call) -> bool:
    """Whether the copy is made to require gradients."""
    given = argument(call, "requires_grad", 1)
    return given is not None and literal(given) is not False


def _consequence(call: ast.Call) -> Consequence:
    return Consequence.SILENT if leaf(call) else Consequence.RAISES


def _effect(call: ast.Call) -> str:
    return "no parameter gets a gradient" if leaf(call) else "there is nothing to differentiate"
