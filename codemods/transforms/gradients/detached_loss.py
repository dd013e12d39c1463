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
used for more than the backward pass, because these uses would then keep the graph alive.

## When it is not offered
In the `return` of a `training_step` that optimizes by hand, anywhere in its class: there a detached loss is right, and
frees memory. For `.data` of something that is not surely a loss of PyTorch: wrappers such as `PackedSequence` keep
their tensor there. For `.item()` of such a value under a backward call: reported, because some projects have loss
objects whose `item()` is the tensor. Where the cut value is only a part of what is differentiated, where it is made to
require gradients again (`forced-requires-grad` speaks of that), and where a test expects the error.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from codemods.frameworks.gradients.differentiated import DIFFERENTIATING, Sink, forces, seeded, sinks, uses_of
from codemods.frameworks.gradients.losses import Made, value
from codemods.frameworks.gradients.removal import without_assignment
from codemods.model.edits import Consequence, Safety
from codemods.model.names import ACCELERATOR, FABRIC
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax.rewrite import Replacement

_SITES = ("detach", "item", "data")

rule = Rule(
    code="GRD002",
    name="detached-loss",
    summary="the loss is cut from its graph where it is differentiated",
    fix_title="Differentiate the loss itself",
    safety=Safety.SAFE,
    consequence=Consequence.RAISES,
    triggers=(_SITES, DIFFERENTIATING),
    together=(_SITES, DIFFERENTIATING),
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


@rule.on(cst.Call)
def cut_by_call(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    match call.func:
        case cst.Attribute(value=loss, attr=cst.Name(value="detach" | "item" as name)) if not call.args:
            yield from _cut(call, loss, f".{name}()", ctx)


@rule.on(cst.Attribute)
def cut_by_attribute(data: cst.Attribute, ctx: Context) -> Iterator[Draft]:
    if data.attr.value == "data" and value(ctx, data.value).made in (Made.GRAPH, Made.TENSOR):
        yield from _cut(data, data.value, ".data", ctx)


def _cut(cut: cst.BaseExpression, loss: cst.BaseExpression, how: str, ctx: Context) -> Iterator[Draft]:
    for sink in sinks(ctx, cut, depth=1):
        if sink.alone and sink.sure and _is_wrong(sink, loss, ctx):
            break
    else:
        return
    where = "differentiated" if isinstance(sink.node, cst.Call) else "returned to the Trainer"
    spoken = f"`{name}`" if (name := ctx.name(loss)) else "the loss"
    message = f"`{how}` cuts {spoken} from its graph before it is {where}"
    in_doubt = how == ".item()" and value(ctx, loss).made not in (Made.GRAPH, Made.TENSOR)
    if in_doubt and isinstance(sink.node, cst.Call):
        # some projects have loss objects whose `item()` is the tensor
        yield rule.finding(cut, message=message)
        return
    fix: dict[cst.CSTNode, Replacement] = {cut: _shaped(cut, loss)}
    safety = Safety.SAFE
    for hop in sink.hops:
        if isinstance(hop, cst.AugAssign) or any(forces(ctx, use) for use in uses_of(ctx, hop)):
            return
        if not all(_is_fleeting(use, sink, ctx) for use in uses_of(ctx, hop)):
            safety = Safety.UNSAFE
        if removal := without_assignment(ctx, hop, loss, cut):
            fix = removal
    yield rule.finding(cut, message=message, fix=fix, safety=safety)


def _is_wrong(sink: Sink, loss: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the sink is one that surely wants a graph."""
    if isinstance(sink.node, cst.Return):
        function = ctx.function(sink.node)
        return function is not None and function.name.value == "training_step"
    if _expected_to_fail(sink.node, ctx):
        return False
    func = sink.node.func
    if not isinstance(func, cst.Attribute) or ctx.means(func, "torch.autograd.backward"):
        return True
    if func.attr.value == "manual_backward" or ctx.loss_of(sink.node) is func.value:
        return True
    if isinstance(func.value, cst.Call) or ctx.is_a(func.value, FABRIC | ACCELERATOR):
        return True
    # `model.backward(gradient.detach())` of a hand-written model takes a gradient, not a loss
    return not seeded(ctx, sink.node) and value(ctx, loss).made is Made.GRAPH


def _expected_to_fail(call: cst.Call, ctx: Context) -> bool:
    """Whether a demonstration catches the error."""
    for above in ctx.ancestors(call):
        match above:
            case cst.Try(body=body, handlers=[_, *_]) if len(body.body) <= 2 and body in ctx.ancestors(call):
                return True
            case cst.FunctionDef():
                return False
    return False


def _shaped(cut: cst.BaseExpression, loss: cst.BaseExpression) -> cst.BaseExpression:
    """The loss in place of the cut one, in the parentheses that stood around both."""
    return loss.with_changes(lpar=[*cut.lpar, *loss.lpar], rpar=[*loss.rpar, *cut.rpar])


def _is_fleeting(use: cst.BaseExpression, sink: Sink, ctx: Context) -> bool:
    """Whether a use of the cut value ends there: the backward call itself, a number, or a further cut."""
    if use is sink.value or sink.node in ctx.ancestors(use):
        return True
    match ctx.parent(use):
        case cst.Attribute(attr=cst.Name(value="item" | "detach" | "cpu" | "numpy" | "shape" | "dtype" | "device")):
            return True
        case cst.Arg() as arg:
            call = ctx.parent(arg)
            return isinstance(call, cst.Call) and ctx.name(call.func) in ("float", "print")
    return False
