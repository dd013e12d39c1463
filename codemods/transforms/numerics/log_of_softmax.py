"""The logarithm of a softmax, in two steps.

## Why is this bad?
The softmax rounds to 0 what is far below the largest logit, and the logarithm of 0 is `-inf`: for the logits `[0, 120]`
the result is `-inf` and the gradient NaN, in 32 bits as in 16; `log_softmax` gives -120 and a gradient of -1 and 1 (run
with PyTorch 2.13). It does not show before the model is sure of something.

## Fix safety
Safe: `log_softmax` computes the same in one step, with the same arguments, and is exact where the two steps are not.
Unsafe where the program asks for infinities.

## When it is not offered
Only where the softmax stands in the logarithm itself. Silent where something is added or the probabilities are clamped
first, where they have a name or a buffer (`out=`), where gradients are off, and where the softmax may be one of the
project.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.mentions import mentions
from codemods.analysis.python_context import PythonContext
from codemods.flow.answers import Answer, question, unless
from codemods.frameworks.gradients.grad_mode import gradients
from codemods.frameworks.numerics.criteria import softmax_of
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_LOG = frozenset({"torch.log", "torch.Tensor.log"})

_KEPT = ("input", "dim", "dtype", "_stacklevel")
"""Arguments that `log_softmax` takes as `softmax` does."""

_ASKING = ("isfinite", "isinf", "isneginf", "isnan", "nan_to_num", "detect_anomaly", "inf", "finfo")

rule = Rule(
    code="NUM003",
    name="log-of-softmax",
    summary="the logarithm of a softmax is `-inf` where the softmax rounds to 0",
    fix_title="Use `log_softmax`",
    safety=Safety.SAFE,
    consequence=Consequence.STYLE,
    follows=True,
    effect=Effect.NUMBERS,
    triggers=(("softmax",), ("log",)),
    imports=("torch",),
    references=("https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html",),
)


@rule.on(ast.Call)
def log_of_softmax(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    match call:
        case ast.Call(func=func, args=[ast.Call() as softmax], keywords=[]) if ctx.means(func, _LOG):
            pass
        case ast.Call(func=ast.Attribute(value=ast.Call() as softmax, attr="log"), args=[], keywords=[]):
            pass
        case _:
            return
    if softmax_of(ctx, softmax) is None or isinstance(softmax.func, ast.Call):
        return
    if gradients(ctx, call) == "off":
        return  # no gradient becomes NaN, and `-inf` may be meant
    if any(each.arg not in _KEPT for each in softmax.keywords):
        return  # `out=` keeps the probabilities (`kept_in_a_buffer`)
    arguments = ctx.source(softmax).removeprefix(ctx.source(softmax.func))
    if isinstance(softmax.func, ast.Attribute):
        function, needs = f"{ctx.source(softmax.func.value)}.log_softmax", []
    elif (
        found := ctx.spell(next(iter(ctx.origin(softmax.func))).replace("softmax", "log_softmax"), at=call)
    ) is not None:
        function, needs = found.code, [found.need] if found.need else []
    else:
        return
    yield rule.finding(
        call,
        fix=[replace(call, f"{function}{arguments}")],
        needs=needs,
        is_right=[nobody_looks_for_infinities(ctx)],
    )


@question
def nobody_looks_for_infinities(ctx: PythonContext) -> Answer:
    """Whether nothing in the program asks for numbers that are not finite, and means these (`forbidden_tokens`)."""
    return unless(each.evidence("this may mean the infinity") for each in mentions(ctx, *_ASKING))
