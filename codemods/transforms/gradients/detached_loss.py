"""A loss that is cut from its graph right where it is differentiated: `loss.detach().backward()`.

## Why is this bad?
`detach()` and `.data` give a tensor without history, and `.item()` gives a number, so there is nothing to
differentiate:

    RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
    AttributeError: 'float' object has no attribute 'backward'

A LightningModule in automatic optimization hands its loss over by returning it; `return loss.detach()` and
`return {"loss": loss.detach()}` end in the first message, `return loss.item()` in

    MisconfigurationException: In automatic optimization, `training_step` must return a Tensor, a dict, or None

The same on every version run (torch 2.0.1 to 2.13, Lightning 2.0.3 to 2.6.6).

## Fix safety
Safe: code that could not run before hands the loss on with its graph. Unsafe where the cut value has a name that is
used for more than the backward pass, or is an attribute, because these uses would then keep the graph alive; and where
the function runs another backward pass, which frees what both losses share.

Possible, and unsafe, where a class of the project has a `detach`, `item` or `data` of its own and the value may be one,
where a handler or a test may expect the error, in a `training_step` that runs another backward pass, and in one that
other code runs without a Trainer.

## When it is not offered
In the `return` of a `training_step` that optimizes by hand, anywhere in its class: there a detached loss is right, and
frees memory. For `.data` of something that is not surely a loss of PyTorch: wrappers such as `PackedSequence` keep
their tensor there. For `.item()` of such a value under a backward call: reported, because some projects have loss
objects whose `item()` is the tensor. Where the cut value is only a part of what is differentiated, where it is made to
require gradients again (`forced-requires-grad` speaks of that), and where a test expects the error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import values
from codemods.analysis.definitions import uses_of
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer
from codemods.frameworks.gradients.differentiated import DIFFERENTIATING, Sink, forces, seeded, sinks
from codemods.frameworks.gradients.losses import LossOrigin, value
from codemods.frameworks.gradients.questions import (
    a_trainer_differentiates,
    cut_value_is_not_used_again,
    graph_stays_here,
    is_no_other_object,
    no_other_backward_frees_it,
    no_other_backward_of_a_step,
)
from codemods.frameworks.gradients.removal import without_assignment
from codemods.model.computed import Computed
from codemods.model.edits import Consequence, Safety
from codemods.model.names import ACCELERATOR, FABRIC
from codemods.rules.rule import Draft, Rule
from codemods.syntax.module import FUNCTIONS
from codemods.syntax.verbs import replace

_TENSORS = (LossOrigin.GRAPH, LossOrigin.TENSOR)
_SITES = ("detach", "item", "data")

rule = Rule(
    code="GRD002",
    name="detached-loss",
    summary="the loss is cut from its graph where it is differentiated",
    fix_title="Differentiate the loss itself",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    follows=True,
    computed=Computed.NOTHING,
    triggers=(DIFFERENTIATING, _SITES),
    errors=(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "'float' object has no attribute 'backward'",
        "In automatic optimization, `training_step` must return a Tensor, a dict, or None",
    ),
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html",
        "https://lightning.ai/docs/pytorch/stable/common/optimization.html#automatic-optimization",
    ),
)


@rule.on(ast.Call)
def cut_by_call(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    match call.func:
        case ast.Attribute(value=loss, attr="detach" | "item" as name) if not values(call):
            yield from _cut(call, loss, f".{name}()", ctx)


@rule.on(ast.Attribute)
def cut_by_attribute(data: ast.Attribute, ctx: PythonContext) -> Iterator[Draft]:
    if data.attr == "data" and value(ctx, data.value).made in (LossOrigin.GRAPH, LossOrigin.TENSOR):
        yield from _cut(data, data.value, ".data", ctx)


def _cut(cut: ast.expr, loss: ast.expr, how: str, ctx: PythonContext) -> Iterator[Draft]:
    for sink in sinks(ctx, cut, depth=1):
        if sink.alone and sink.sure and _is_wrong(sink, loss, ctx):
            break
    else:
        return
    where = "differentiated" if isinstance(sink.node, ast.Call) else "returned to the Trainer"
    spoken = f"`{name}`" if (name := ctx.name(loss)) else "the loss"
    message = f"`{how}` cuts {spoken} from its graph before it is {where}"
    in_doubt = how == ".item()" and value(ctx, loss).made not in (LossOrigin.GRAPH, LossOrigin.TENSOR)
    if in_doubt and isinstance(sink.node, ast.Call):
        # some projects have loss objects whose `item()` is the tensor
        yield rule.finding(cut, message=message)
        return
    fix = replace(cut, ctx.operand(loss))
    for hop in sink.hops:
        if isinstance(hop, ast.AugAssign) or any(forces(ctx, use) for use in uses_of(ctx, hop)):
            return
        if removal := without_assignment(ctx, hop, loss, cut):
            fix = removal
    is_bug: list[Answer] = [] if value(ctx, loss).made in _TENSORS else [is_no_other_object(ctx, how)]
    if isinstance(sink.node, ast.Return) and (step := ctx.function(sink.node)) is not None:
        is_bug += [no_other_backward_of_a_step(ctx, step), a_trainer_differentiates(ctx, step)]
    is_right = [cut_value_is_not_used_again(ctx, sink), graph_stays_here(ctx, ctx.scope(cut), sink.node, *sink.hops)]
    if isinstance(sink.node, ast.Call):
        is_right.append(no_other_backward_frees_it(ctx, ctx.scope(cut), sink.node))
    yield rule.finding(cut, message=message, fix=[fix], is_bug=is_bug, is_right=is_right)


def _is_wrong(sink: Sink, loss: ast.expr, ctx: PythonContext) -> bool:
    """Whether the sink is one that surely wants a graph."""
    if isinstance(sink.node, ast.Return):
        function = ctx.function(sink.node)
        return function is not None and function.name == "training_step"
    if _expected_to_fail(sink.node, ctx):
        return False
    func = sink.node.func
    if not isinstance(func, ast.Attribute) or ctx.means(func, "torch.autograd.backward"):
        return True
    if func.attr == "manual_backward" or ctx.loss_of(sink.node) is func.value:
        return True
    if isinstance(func.value, ast.Call) or ctx.is_a(func.value, FABRIC | ACCELERATOR):
        return True
    # `model.backward(gradient.detach())` of a hand-written model takes a gradient, not a loss
    return not seeded(ctx, sink.node) and value(ctx, loss).made is LossOrigin.GRAPH


def _expected_to_fail(call: ast.Call, ctx: PythonContext) -> bool:
    """Whether a demonstration catches the error."""
    below: ast.AST = call
    for above in ctx.ancestors(call):
        if isinstance(above, ast.Try) and above.handlers and len(above.body) <= 2 and below in above.body:
            return True
        if isinstance(above, FUNCTIONS):
            return False
        below = above
    return False
