"""A loss that is made to require gradients before it is differentiated: `loss.requires_grad = True`.

## Why is this bad?
It is the common answer to

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn

and it silences the message without mending anything. The message means that the loss has no graph: something before it
was detached, copied, computed under `no_grad`, or is not differentiable. Made to require gradients, the loss becomes a
leaf of its own, gets the gradient 1, and **nothing trains**. On a loss that has a graph, `loss.requires_grad_()` does
nothing, and the assignment raises

    RuntimeError: you can only change requires_grad flags of leaf variables.

The same on every version run (torch 2.0.1 to 2.13).

## Fix safety
Unsafe: the line goes away, and what it hid is raised again, unless the cut in front of it is repaired too
(`detached-loss`, `rewrapped-loss`). Where the loss does have a graph, training goes on as it should.

## When it is not offered
For tensors that are inputs: where the tensor is made from numbers, where its gradient is read, where it goes through a
model or an operation before the backward pass, where the backward pass is given a gradient, where neither its name
nor what it is made of says that it is a loss (the input of an operator under test). Reported without a fix
where the loss is returned to a caller that is not known to differentiate it. Possible only where a test asks for the
graph first (`if not loss.requires_grad:`): the batches without one may be meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import argument, literal, positional, values
from codemods.analysis.definitions import reaching, uses, uses_of
from codemods.analysis.gradient_watchers import no_hook_sees_gradients
from codemods.analysis.mentions import Occurrence, mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unknown, unless
from codemods.frameworks.gradients.differentiated import DIFFERENTIATING, Sink, climb, seeded, sinks
from codemods.frameworks.gradients.losses import FRESH, LossOrigin, value
from codemods.frameworks.gradients.questions import loss_is_cut, nobody_writes_weights
from codemods.frameworks.gradients.removal import removed, without_assignment
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_COPYING = frozenset(f"torch.{name}" for name in ("tensor", "as_tensor", "FloatTensor", "Tensor", "autograd.Variable"))

_GRAPH = frozenset({"requires_grad", "grad_fn", "is_leaf"})
_SITES = ("requires_grad", "requires_grad_")

rule = Rule(
    code="GRD003",
    name="forced-requires-grad",
    summary="the loss is made to require gradients, which hides that it has no graph",
    fix_title="Do not force `requires_grad` on the loss",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    computed=Computed.NOTHING,
    knows=("requires_grad", "requires_grad_"),
    triggers=(_SITES, (*DIFFERENTIATING, "compute_loss")),
    errors=(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "you can only change requires_grad flags of leaf variables.",
    ),
    references=("https://docs.pytorch.org/docs/stable/notes/autograd.html#setting-requires-grad",),
)


@rule.on(ast.Assign)
def assigned(statement: ast.Assign, ctx: PythonContext) -> Iterator[Draft]:
    match statement.targets:
        case [ast.Attribute(value=loss, attr="requires_grad")]:
            if literal(statement.value) is True:
                yield from _forced(statement, statement, loss, ctx)


@rule.on(ast.Call)
def called(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    match call.func:
        case ast.Attribute(value=loss, attr="requires_grad_") if len(values(call)) < 2:
            given = argument(call, "requires_grad", 0)
            if values(call) and (given is None or literal(given) is not True):
                return
        case _:
            return
    top = [node for node, _ in climb(ctx, call)][-1]
    if isinstance(statement := ctx.parent(top), ast.Expr):
        yield from _forced(call, statement, loss, ctx)
    else:
        yield from _passed_on(call, loss, ctx)


def _forced(node: ast.expr | ast.stmt, statement: ast.stmt, loss: ast.expr, ctx: PythonContext) -> Iterator[Draft]:
    """A statement that forces a name, which is differentiated after it."""
    name = ctx.name(loss)
    if name is None or _is_input(loss, name, statement, ctx):
        return
    found = value(ctx, loss).made
    after = [use for use in uses(ctx, name, statement) if _is_same(ctx, statement, use, name)]
    assigned = isinstance(node, ast.Assign)
    message = _message(name, assigned, found)
    reached = ((use, sink) for use in after for sink in sinks(ctx, use, depth=0))
    if any(_differentiates(sink, use, statement, ctx) for use, sink in reached):
        is_bug = [*_is_bug(ctx, loss, found), is_forced_always(ctx, statement)]
        fix = [removed(ctx, statement)]
        is_right = [nothing_is_frozen(ctx, statement)]
        cost = _cost(assigned, found)
        yield rule.finding(node, message=message, fix=fix, consequence=cost, is_bug=is_bug, is_right=is_right)
    elif found in (LossOrigin.GRAPH, LossOrigin.TENSOR) and any(
        isinstance(ctx.parent(use), ast.Return) for use in after
    ):
        if "loss" in name.lower():
            doubt = ctx.evidence(loss, "who differentiates what is returned is not in sight")
            yield rule.finding(node, message=message, is_bug=[unknown(doubt)])


@question
def is_forced_always(ctx: PythonContext, statement: ast.stmt) -> Answer:
    """Whether no test of the graph stands before it: who asks means the batches that have none (`empty_batches`)."""
    tests = (each.test for each in ctx.ancestors(statement) if isinstance(each, (ast.If, ast.While)))
    asked = (t for t in tests for node in ast.walk(t) if isinstance(node, ast.Attribute) and node.attr in _GRAPH)
    return unless(ctx.evidence(test, "what has no graph may have none on purpose") for test in asked)


def nothing_is_frozen(ctx: PythonContext, statement: ast.stmt) -> Answer:
    """Whether nothing else freezes parameters: where all of them are a loss has no graph (`frozen_at_first`)."""
    given = (each for each in mentions(ctx, "requires_grad_") if each.call is None or _freezes(each.call))
    switches = (*given, *(each for each in stores(ctx, "requires_grad") if not _switches_on(each)))
    others = (each for each in switches if each.ctx is not ctx or ctx.statement(each.node) is not statement)
    return unless(each.evidence("nothing may train here on purpose") for each in others)


def _freezes(switch: ast.Call) -> bool:
    return any(literal(each) is not True for each in values(switch))


def _switches_on(store: Occurrence) -> bool:
    holder = store.ctx.parent(store.node)
    return isinstance(holder, ast.Assign) and literal(holder.value) is True


def _passed_on(call: ast.Call, loss: ast.expr, ctx: PythonContext) -> Iterator[Draft]:
    """`requires_grad_()` in the middle of an expression that is differentiated."""
    if _is_made_of_numbers(loss, ctx) or (ctx.name(loss) and _is_input(loss, ctx.name(loss) or "", call, ctx)):
        return
    found = value(ctx, loss).made
    for sink in sinks(ctx, call, depth=1):
        hops = [use for hop in sink.hops for use in uses_of(ctx, hop)]
        first = next((use for use in hops if use in ast.walk(sink.value)), sink.value) if sink.hops else call
        if any(_is_leaf_use(use, ctx) for use in hops) or not _differentiates(sink, first, call, ctx):
            continue
        fix = replace(call, ctx.operand(loss))
        if (holder := ctx.parent(call)) is not None:
            fix = without_assignment(ctx, holder, loss, call) or fix
        message = _message(ctx.name(loss), False, found)
        yield rule.finding(
            call, message=message, fix=[fix], consequence=_cost(False, found), is_bug=_is_bug(ctx, loss, found)
        )
        return


def _is_bug(ctx: PythonContext, loss: ast.expr, found: LossOrigin) -> list[Answer]:
    """What the claim rests on: a loss that is cut, and no hook that hands its gradient on; of a graph nothing."""
    if found is LossOrigin.GRAPH:
        return []
    return [loss_is_cut(ctx, loss), no_hook_sees_gradients(ctx), nobody_writes_weights(ctx, loss)]


def _cost(assigned: bool, found: LossOrigin) -> Consequence:
    """What it costs to force a loss: nothing, or an error, where it has a graph."""
    if found is LossOrigin.GRAPH:
        return Consequence.RAISES if assigned else Consequence.STYLE
    return Consequence.SILENT


def _message(name: str | None, assigned: bool, found: LossOrigin) -> str:
    spoken = f"`{name}`" if name else "the loss"
    forcing = f"`{name or 'loss'}.requires_grad = True`" if assigned else f"`{name or '…'}.requires_grad_()`"
    if found is LossOrigin.CUT:
        return f"{forcing} hides that {spoken} is cut from its graph, so nothing trains"
    idle = "raises" if assigned else "does nothing"
    return f"{forcing} {idle} where {spoken} has a graph, and where it has none hides that nothing trains"


def _differentiates(sink: Sink, first: ast.expr, forced: ast.AST, ctx: PythonContext) -> bool:
    """Whether the very value that is forced is differentiated: as it is or times a number, in the same round of a loop.

    A value that goes through a call, or that a loop gives another meaning, may be an input.

    Args:
        first: where the way to the backward pass begins.
    """
    if not (sink.alone and sink.sure) or seeded(ctx, sink.node):
        return False
    node: ast.AST | None = first
    while node is not None and node is not sink.value:
        if isinstance(node := ctx.parent(node), ast.Call):
            return False
    flow = ctx.flow_of(ctx.scope(forced))
    return flow.loop(forced) is flow.loop(sink.node)


def _is_same(ctx: PythonContext, statement: ast.AST, use: ast.expr, name: str) -> bool:
    """Whether `use` comes after the statement, with nothing assigned in between."""
    flow = ctx.flow_of(ctx.scope(use))
    if not flow.reaches(statement, use):
        return False
    parts = name.split(".")
    names = {".".join(parts[: n + 1]) for n in range(len(parts))}
    bound = [b.node for n in names for b in ctx.bindings(ctx.scope(use)).get(n, ())]
    return not any(flow.reaches(statement, node) and flow.reaches(node, use) for node in bound)


def _is_input(loss: ast.expr, name: str, statement: ast.AST, ctx: PythonContext) -> bool:
    """Whether a name is a leaf on purpose: made of numbers, optimized, or its gradient is read."""
    if any(_is_leaf_use(use, ctx) for use in uses(ctx, name, statement)):
        return True
    return any(b.value is not None and _is_made_of_numbers(b.value, ctx) for b in reaching(ctx, loss)[0])


def _is_made_of_numbers(node: ast.expr, ctx: PythonContext) -> bool:
    """Whether an expression makes a tensor that nothing was computed for."""
    match node:
        case ast.Call(func=ast.Attribute(value=inner)) if not ctx.origin(node.func):
            return _is_made_of_numbers(inner, ctx)
    if isinstance(node, ast.Call) and ctx.means(node.func, "torch.nn.Parameter"):
        return True
    if not isinstance(node, ast.Call) or not ctx.means(node.func, FRESH):
        return False
    first = positional(node, 0)
    copied = first is not None and isinstance(first, (ast.Name, ast.Attribute, ast.Call, ast.BinOp))
    return not (copied and ctx.means(node.func, _COPYING))


def _is_leaf_use(use: ast.expr, ctx: PythonContext) -> bool:
    """Whether a use shows a tensor whose own gradient is wanted."""
    if isinstance(parent := ctx.parent(use), ast.Attribute) and parent.attr in ("grad", "retain_grad"):
        return True
    for above in ctx.ancestors(use):
        if isinstance(above, ast.Call):
            name = (ctx.name(above.func) or "").lower()
            if name.endswith(".grad") or "optim" in name:
                return True
        if isinstance(above, ast.stmt):
            return False
    return False
