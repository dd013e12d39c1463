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
keywords, for it takes no others). Without accumulation, in `no` and `bf16`, the gradients are the same.

## When it is not offered
Reported, but left as it is, where the loss is divided by hand for accumulation (`loss / accumulation_steps`): the
Accelerator would divide again, so one of the two has to go, and which one is for you to say. Also where it cannot be
told whether the optimizer was prepared, and for several tensors in one `torch.autograd.backward`.

Left alone: where no object in sight is surely an `Accelerator` (`torch.accelerator` is another thing), where several
are, where it may be `None` or the code asks whether it is there, where the optimizer that is stepped was never
prepared, and a scaler of your own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from codemods import flow, known
from codemods.context import Context
from codemods.edits import Consequence, Safety
from codemods.preparation import Keeping, keeper, trains_prepared
from codemods.rewrite import keyword, literal, make_argument
from codemods.rule import Draft, Rule
from codemods.tensors import PARAMETERS, backward_arguments, is_raw_backward

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

ACCELERATOR = Keeping(known.ACCELERATOR, frozenset({"prepare", "prepare_model", "prepare_optimizer"}))
_STEPS = re.compile(r"accum|micro_?(?:batch|step)|grad_acc|(?:\b|_)g?acc?_|_acc?\b|grad\w*_steps", re.I)


@rule.on(cst.Call)
def raw_backward(call: cst.Call, ctx: Context) -> Iterator[Draft]:
    if not is_raw_backward(ctx, call):
        return
    accelerator = keeper(ctx, call, ACCELERATOR)
    trained = trains_prepared(ctx, call, ACCELERATOR) if accelerator is not None else False
    if accelerator is None or trained is False:
        return
    name = ctx.name(accelerator)
    if trained is None:
        yield rule.finding(
            call, message=f"this raw backward bypasses `{name}`, if it has prepared what is trained here"
        )
    elif (divisor := _divided_by_hand(call, ctx)) is not None:
        message = f"this raw backward bypasses `{name}`; `{name}.backward` would divide by {divisor} a second time"
        yield rule.finding(call, message=message)
    elif (args := _keywords(backward_arguments(ctx, call))) is None:
        yield rule.finding(call, message=f"this raw backward bypasses `{name}`, which takes one tensor and keywords")
    else:
        fixed = call.with_changes(func=cst.Attribute(accelerator, cst.Name("backward")), args=args)
        message = f"this raw backward bypasses gradient accumulation, scaler and strategy of `{name}`"
        yield rule.finding(call, fix={call: fixed}, message=message)


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


def _divided_by_hand(call: cst.Call, ctx: Context) -> str | None:
    """What the loss is divided by for the sake of accumulation, in this function."""
    loss = ctx.loss_of(call)
    if loss is None:
        return None
    spoken = {*(n for part in (loss, *flow.own(loss)) if (n := ctx.name(part)))}
    steps = _configured(ctx)
    for node in flow.own(ctx.scope(call)):
        match node:
            case cst.BinaryOperation(left=left, operator=cst.Divide() | cst.FloorDivide(), right=right):
                pass
            case cst.AugAssign(target=left, operator=cst.DivideAssign(), value=right):
                pass
            case _:
                continue
        if _counts_steps(ctx, right, steps) and _concerns(ctx, node, left, spoken):
            return f"`{ctx.module.code_for_node(right)}`"
    return None


def _concerns(ctx: Context, division: cst.CSTNode, left: cst.BaseExpression, spoken: set[str]) -> bool:
    """Whether a division makes the loss that is differentiated."""
    parts = {n for part in (left, *flow.own(left)) if (n := ctx.name(part))}
    statement = ctx.statement(division)
    if isinstance(statement, cst.Assign):
        parts |= {n for t in statement.targets if (n := ctx.name(t.target))}
    return bool(parts & spoken)


def _counts_steps(ctx: Context, divisor: cst.BaseExpression, steps: set[object]) -> bool:
    if _STEPS.search(ctx.module.code_for_node(divisor)):
        return True
    value = literal(divisor)
    return (ctx.name(divisor) if value is ... else value) in steps


def _configured(ctx: Context) -> set[object]:
    """What this file gives as `gradient_accumulation_steps`, by value or by name."""
    found: set[object] = set()
    for call in ctx.all(cst.Call, "gradient_accumulation_steps"):
        if ctx.calls(call, known.ACCELERATOR) and (arg := keyword(call, "gradient_accumulation_steps")):
            value = literal(arg.value)
            found.add(ctx.name(arg.value) if value is ... else value)
    return found - {None}
