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
- where it cannot be told whether the optimizer was prepared, and for several tensors in one `torch.autograd.backward`,
- in a function that knows no Accelerator, and that is called within `accelerator.accumulate(…)` (possible).

Left alone: where no object in sight is surely an `Accelerator` (`torch.accelerator` is another thing), where several
are, where it may be `None` or the code asks whether it is there, where the optimizer that is stepped was never
prepared, and a scaler of your own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.analysis.calls import callers, keyword, literal
from codemods.analysis.gradient_watchers import no_hook_sees_gradients
from codemods.analysis.python_context import PythonContext
from codemods.analysis.tensors import differentiates_a_tensor, is_raw_backward, redirected
from codemods.flow.answers import Answer, every, question, unknown, yes
from codemods.frameworks.accelerators import (
    Keeping,
    keeper,
    no_environment_says_how_many,
    trains_what_it_prepared,
)
from codemods.frameworks.gradient_consumers import redirecting
from codemods.frameworks.trainer_config.divisions import divided_by_hand, loss_is_undivided
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
    follows=True,
    triggers=(("backward",),),
    somewhere=(b"Accelerator",),
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
    if name is None:
        yield from _in_a_helper(ctx, call)
        return
    is_bug = [differentiates_a_tensor(ctx, call), trains_what_it_prepared(ctx, call, KEEPING, name)]
    if every(is_bug).is_no:
        return
    accumulates = _may_accumulate(ctx)
    if accumulates and (division := divided_by_hand(ctx, call)) is not None:
        shown = division.ctx.evidence(division.node, "the loss is divided")
        divisor = division.ctx.source(division.by)
        message = (
            f"this raw backward bypasses `{name}`; the loss is divided by `{divisor}` already, "
            f"and `{name}.backward` divides by its accumulation steps"
        )
        yield rule.finding(call, message=message, is_bug=is_bug, consequence=Consequence.STYLE, evidence=[shown])
    elif (fixed := redirected(ctx, call, f"{name}.backward", keywords_only=True)) is None:
        message = f"this raw backward bypasses `{name}`, which takes one tensor and keywords"
        yield rule.finding(call, message=message, is_bug=is_bug, consequence=_cost(ctx))
    else:
        message = f"this raw backward bypasses gradient accumulation, scaler and strategy of `{name}`"
        is_wanted, is_right = redirecting(ctx, call, KEEPING, name, _stays)
        is_bug += [is_wanted, no_hook_sees_gradients(ctx)]
        if accumulates:
            is_bug += [accumulates_here(ctx, call), no_environment_says_how_many(ctx)]
        cost = _cost(ctx)
        if accumulates and cost is Consequence.STYLE:
            is_right.append(unknown(ctx.evidence(call, "the Accelerator may divide the loss, which nothing does here")))
        if accumulates:
            (is_bug if cost is Consequence.SILENT else is_right).append(loss_is_undivided(ctx, call))
        yield rule.finding(call, fix=[fixed], message=message, is_bug=is_bug, is_right=is_right, consequence=cost)


def _in_a_helper(ctx: PythonContext, call: ast.Call) -> Iterator[Draft]:
    """A raw backward in a function that knows no Accelerator, and that is called within `accelerator.accumulate(…)`."""
    function = ctx.function(call)
    if function is None or divided_by_hand(ctx, call) is not None:
        return
    for where, outer in callers(ctx, function):
        name = keeper(where, outer, KEEPING)
        if name is None or accumulates_here(where, outer).is_unknown or not _may_accumulate(where):
            continue
        yield rule.finding(
            call,
            message=f"this raw backward bypasses `{name}`, which divides by its accumulation steps",
            evidence=[where.evidence(outer, "it is called here")],
            is_bug=[
                differentiates_a_tensor(ctx, call),
                unknown(where.evidence(outer, f"`{function.name}` may train what is not prepared")),
                loss_is_undivided(ctx, call),
            ],
            consequence=_cost(where),
        )
        return


@question
def accumulates_here(ctx: PythonContext, call: ast.Call) -> Answer:
    """Whether a backward call stands in `accelerator.accumulate(…)`: elsewhere every step counts (`a_loop_without`)."""
    around = (each.maker for each in ctx.regions(call))
    if any(isinstance(maker, ast.Attribute) and maker.attr == "accumulate" for maker in around):
        return yes()
    return unknown(ctx.evidence(call, "nothing accumulates around this"))


def _stays(ctx: PythonContext, call: ast.Call) -> bool:
    """Whether a raw backward call is only reported."""
    fixed = redirected(ctx, call, "accelerator.backward", keywords_only=True)
    return fixed is None or (_may_accumulate(ctx) and divided_by_hand(ctx, call) is not None)


def _accelerators(ctx: PythonContext) -> list[ast.Call]:
    """The calls of this file that make an Accelerator."""
    return [call for call in ctx.all(ast.Call) if ctx.calls(call, ACCELERATOR)]


def _may_accumulate(ctx: PythonContext) -> bool:
    """Whether an Accelerator may divide by a number of steps: it is told one, or is not made in this file."""
    made = _accelerators(ctx)
    return not made or any(_accumulates(call) for call in made)


def _accumulates(call: ast.Call) -> bool:
    if any(k.arg in (None, "gradient_accumulation_plugin", "deepspeed_plugin") for k in call.keywords):
        return True
    steps = keyword(call, "gradient_accumulation_steps")
    return steps is not None and literal(steps) != 1


def _cost(ctx: PythonContext) -> Consequence:
    """What the raw call costs, by the arguments of the Accelerators that this file makes."""
    made = _accelerators(ctx)
    if any(keyword(call, "gradient_accumulation_steps") and _accumulates(call) for call in made):
        return Consequence.SILENT
    if any(literal(keyword(call, "cpu")) not in (..., False) for call in made):
        return Consequence.STYLE  # there is no gradient scaler on a CPU (on_a_cpu)
    precisions = [given for call in made if (given := keyword(call, "mixed_precision"))]
    return Consequence.RAISES if any(literal(given) == "fp16" for given in precisions) else Consequence.STYLE
