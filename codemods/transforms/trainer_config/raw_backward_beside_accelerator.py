"""`loss.backward()` in a loop that Accelerate has prepared.

## Why is this bad?
`accelerator.prepare` hands precision, accumulation and strategy to the Accelerator, so the backward pass has to go
through it. With `gradient_accumulation_steps=4` a raw `loss.backward()` leaves out the division by four, and every
gradient is four times too large: silently, in every precision (Accelerate 1.15). With `mixed_precision="fp16"` the
gradient scaler of the Accelerator never hears of the loss:

    AssertionError: Attempted step but _scale is None.  This may indicate your script did not use
    scaler.scale(loss or outputs) earlier in the iteration.

## Fix safety
Safe: `accelerator.backward(loss, **kwargs)` hands keywords on to `Tensor.backward` (positional arguments become
keywords, for it takes no others). Without accumulation, in `no` and `bf16`, the gradients are the same. Safe means that
every optimizer which is stepped with these gradients is seen to be prepared, and that nothing else looks at them.

Unsafe where that may be otherwise: an optimizer of which it cannot be told, a module that takes part and is not seen to
be prepared, a gradient hook, a function out of sight that is given parameters.

## When it is not offered
Reported, but left as it is:

- where the loss is divided already: by a number of steps (`loss / accumulation_steps`, `loss * (1 / n)`, `loss.div(n)`,
  here or in the function that makes it), or by something that is not measured on the batch itself (all tokens of the
  accumulated batches). The Accelerator would divide again; which of the two has to go is for you to say,
- where an optimizer that nobody prepared steps with the gradients, whoever calls it: its step would be divided, or
  multiplied by the scale of `fp16` (7.75 instead of 0.107),
- where they are clipped or read before `optimizer.step()`: a raw `clip_grad_norm_` is silently wrong under `fp16`; use
  `accelerator.clip_grad_norm_`, which unscales first, and `accelerator.backward` together,
- where it cannot be told whether the optimizer was prepared, and for several tensors in one `torch.autograd.backward`.

Left alone: where no object in sight is surely an `Accelerator` (`torch.accelerator` is another thing), where several
are, where it may be `None` or the code asks whether it is there, where the optimizer that is stepped was never
prepared, and a scaler of your own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import keyword, literal
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import is_raw_backward, redirected
from codemods.frameworks.accelerators import Keeping, keeper, trains_prepared
from codemods.frameworks.gradient_consumers import prepared_consumers
from codemods.frameworks.trainer_config.divisions import divided_by_hand
from codemods.model.edits import Consequence, Safety
from codemods.model.effect import Effect
from codemods.model.names import ACCELERATOR
from codemods.rules.rule import Draft, Rule

rule = Rule(
    code="HF001",
    name="raw-backward-beside-accelerator",
    summary="`loss.backward()` bypasses the Accelerator's gradient accumulation, scaler and strategy",
    fix_title="Call `accelerator.backward(loss)`",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    effect=Effect.FACTOR,
    triggers=(("backward",), ("Accelerator", "accelerator", "accelerate", "prepare")),
    errors=("Attempted step but _scale is None",),
    references=(
        "https://huggingface.co/docs/accelerate/basic_tutorials/migration",
        "https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation",
    ),
)

KEEPING = Keeping(ACCELERATOR, frozenset({"prepare", "prepare_model", "prepare_optimizer"}))


@rule.on(ast.Call)
def raw_backward(call: ast.Call, ctx: PythonContext) -> Iterator[Draft]:
    if not is_raw_backward(ctx, call):
        return
    name = keeper(ctx, call, KEEPING)
    trained = trains_prepared(ctx, call, KEEPING) if name is not None else False
    if name is None or trained is False:
        return
    if trained is None:
        yield rule.finding(
            call, message=f"this raw backward bypasses `{name}`, if it has prepared what is trained here"
        )
    elif (division := divided_by_hand(ctx, call)) is not None:
        shown = division.ctx.evidence(division.node, "the loss is divided")
        divisor = division.ctx.source(division.by)
        message = (
            f"this raw backward bypasses `{name}`; the loss is divided by `{divisor}` already, "
            f"and `{name}.backward` divides by its accumulation steps"
        )
        yield rule.finding(call, message=message, consequence=Consequence.STYLE, evidence=[shown])
    elif (fixed := redirected(ctx, call, f"{name}.backward", keywords_only=True)) is None:
        yield rule.finding(call, message=f"this raw backward bypasses `{name}`, which takes one tensor and keywords")
    else:
        message = f"this raw backward bypasses gradient accumulation, scaler and strategy of `{name}`"
        users = prepared_consumers(ctx, call, KEEPING, f"`{name}`", _stays)
        reasons, evidence, cost = users.reasons, users.evidence, _cost(ctx)
        if users.forbid:
            message = f"{message}; `{name}.backward` alone would be wrong: {reasons}"
            yield rule.finding(call, message=message, consequence=cost, evidence=evidence)
        else:
            safety = Safety.UNSAFE if reasons else Safety.SAFE
            message = f"{message}; look first: {reasons}" if reasons else message
            yield rule.finding(call, fix=[fixed], safety=safety, message=message, consequence=cost, evidence=evidence)


def _stays(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a raw backward call is only reported."""
    fixed = redirected(ctx, call, "accelerator.backward", keywords_only=True)
    return fixed is None or divided_by_hand(ctx, call) is not None


def _cost(ctx: PythonContext) -> Consequence:
    """What the raw call costs, by the arguments of the Accelerators that this file makes."""
    made = [call for call in ctx.all(ast.Call) if ctx.calls(call, ACCELERATOR)]
    steps = [given for call in made if (given := keyword(call, "gradient_accumulation_steps"))]
    if any(literal(given) != 1 for given in steps):
        return Consequence.SILENT
    precisions = [given for call in made if (given := keyword(call, "mixed_precision"))]
    return Consequence.RAISES if any(literal(given) == "fp16" for given in precisions) else Consequence.STYLE
