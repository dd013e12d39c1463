"""The logarithm of a softmax, in two steps.

## Why is this bad?
The softmax rounds to 0 what is far below the largest logit, and the logarithm of 0 is `-inf`: for the logits `[0, 120]`
the result is `-inf` and the gradient NaN, in 32 bits as in 16; `log_softmax` gives -120 and a gradient of -1 and 1 (run
with PyTorch 2.13). It does not show before the model is sure of something.

## Fix safety
Safe: `log_softmax` computes the same in one step, with the same arguments, and is exact where the two steps are not.

## When it is not offered
Only where the softmax stands in the logarithm itself. Silent where something is added or the probabilities are clamped
first, where they have a name or a buffer (`out=`), and where the softmax may be one of the project.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.python_context import PythonContext
from codemods.frameworks.numerics.criteria import softmax_of
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.rules.rule import Draft, Rule
from codemods.syntax.verbs import replace

_LOG = frozenset({"torch.log", "torch.Tensor.log"})

_KEPT = ("input", "dim", "dtype", "_stacklevel")
"""Arguments that `log_softmax` takes as `softmax` does."""

rule = Rule(
    code="NUM003",
    name="log-of-softmax",
    summary="the logarithm of a softmax is `-inf` where the softmax rounds to 0",
    fix_title="Use `log_softmax`",
    safety=Safety.SAFE,
    consequence=Consequence.STYLE,
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
    if any(each.arg not in _KEPT for each in softmax.keywords):
        return  # `out=` keeps the probabilities (`kept_in_a_buffer`)
    arguments = ctx.source(softmax).removeprefix(ctx.source(softmax.func))
    if isinstance(softmax.func, ast.Attribute):
        function, needs = f"{ctx.source(softmax.func.value)}.log_softmax", []
    elif (found := ctx.spell("torch.nn.functional.log_softmax", at=call)) is not None:
        function, needs = found.code, [found.need] if found.need else []
    else:
        return
    yield rule.finding(call, fix=[replace(call, f"{function}{arguments}")], needs=needs)
