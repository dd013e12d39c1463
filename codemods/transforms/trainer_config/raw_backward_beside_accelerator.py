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

from collections.abc import Iterator

import libcst as cst

from codemods.analysis.tensors import PARAMETERS, backward_arguments, is_raw_backward
from codemods.frameworks.accelerators import Keeping, keeper, trains_prepared
from codemods.frameworks.gradient_consumers import prepared_consumers
from codemods.frameworks.trainer_config.divisions import divided_by_hand
from codemods.model.edits import Consequence, Safety
from codemods.model.names import ACCELERATOR
from codemods.rules.context import Context
from codemods.rules.rule import Draft, Rule
from codemods.syntax.rewrite import keyword, literal, make_argument
from codemods.syntax.tree import text_of

rule = Rule(
    code="HF001",
    name="raw-backward-beside-accelerator",
    summary="`loss.backward()` bypasses the Accelerator's gradient accumulation, scaler and strategy",
    fix_title="Call `accelerator.backward(loss)`",
    safety=Safety.SAFE,
    consequence=Consequence.SILENT,
    triggers=(("backward",), ("Accelerator", "accelerator", "accelerate", "prepare")),
    together=(("backward",),),
    errors=("Attempted step but _scale is None",),
    references=(
        "https://huggingface.co/docs/accelerate/basic_tutorials/migration",
        "https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation",
    ),
)

KEEPING = Keeping(ACCELERATOR, frozenset({"prepare", "prepare_model", "prepare_optimizer"}))


@rule.on(cst.Call)
def raw_backward(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if not is_raw_backward(ctx, call):
        return
    accelerator = keeper(ctx, call, KEEPING)
    trained = trains_prepared(ctx, call, KEEPING) if accelerator is not None else False
    if accelerator is None or trained is False:
        return
    name = ctx.name(accelerator)
    if trained is None:
        yield rule.finding(
            call, message=f"this raw backward bypasses `{name}`, if it has prepared what is trained here"
        )
    elif (division := divided_by_hand(ctx, call)) is not None:
        shown = division.ctx.evidence(division.node, "the loss is divided")
        message = (
            f"this raw backward bypasses `{name}`; the loss is divided by `{text_of(division.by)}` already, "
            f"and `{name}.backward` divides by its accumulation steps"
        )
        yield rule.finding(call, message=message, consequence=Consequence.STYLE, evidence=[shown])
    elif (args := _keywords(backward_arguments(ctx, call))) is None:
        yield rule.finding(call, message=f"this raw backward bypasses `{name}`, which takes one tensor and keywords")
    else:
        fixed = call.with_changes(func=cst.Attribute(accelerator, cst.Name("backward")), args=args)
        message = f"this raw backward bypasses gradient accumulation, scaler and strategy of `{name}`"
        users = prepared_consumers(ctx, call, KEEPING, f"`{name}`", _stays)
        reasons, evidence = users.reasons, users.evidence
        if users.forbid:
            message = f"{message}; `{name}.backward` alone would be wrong: {reasons}"
            yield rule.finding(call, message=message, consequence=_cost(ctx), evidence=evidence)
        elif reasons:
            message = f"{message}; look first: {reasons}"
            yield rule.finding(
                call,
                fix={call: fixed},
                safety=Safety.UNSAFE,
                message=message,
                consequence=_cost(ctx),
                evidence=evidence,
            )
        else:
            yield rule.finding(call, fix={call: fixed}, message=message, consequence=_cost(ctx))


def _keywords(args: list[cst.Arg] | None) -> list[cst.Arg] | None:
    """The loss, and everything after it by keyword."""
    if args is None or any(a.star == "*" for a in args):
        return None
    loss, *rest = args
    if sum(a.keyword is None and not a.star for a in rest) > len(PARAMETERS):
        return None
    named = [
        a if a.keyword or a.star else make_argument(name, a.value).with_changes(comma=a.comma)
        for a, name in zip(rest, (*PARAMETERS, *[""] * len(rest)), strict=False)
    ]
    return [loss, *named]


def _stays(ctx: Context, call: cst.Call) -> bool:
    """Whether a raw backward call is only reported."""
    return _keywords(backward_arguments(ctx, call)) is None or divided_by_hand(ctx, call) is not None


def _cost(ctx: Context) -> Consequence:
    """What the raw call costs, by the arguments of the Accelerators that this file makes."""
    made = [call for call in ctx.all(cst.Call, "ccelerator") if ctx.calls(call, ACCELERATOR)]
    steps = [arg for call in made if (arg := keyword(call, "gradient_accumulation_steps"))]
    if any(literal(arg.value) != 1 for arg in steps):
        return Consequence.SILENT
    precisions = [arg for call in made if (arg := keyword(call, "mixed_precision"))]
    return Consequence.RAISES if any(literal(a.value) == "fp16" for a in precisions) else Consequence.STYLE
